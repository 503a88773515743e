// The keys that steer the sandbox, in the order of the key bar.

import type { KeyBinding } from "../state/state.ts";
import { clockKey } from "./clock.ts";
import { faultKeys } from "./faults.ts";
import { merchantKeys } from "./merchants.ts";
import { snapshotKey } from "./snapshots.ts";
import { trafficKey } from "./traffic.ts";
import { triggerKey } from "./trigger.ts";
import { undoKey } from "./undo.ts";

export const controls: readonly KeyBinding[] = [...faultKeys, undoKey, triggerKey, clockKey, ...merchantKeys, trafficKey, snapshotKey];
