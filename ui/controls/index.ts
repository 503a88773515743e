// What the dashboard can do to the sandbox: every control, in the order of the key bar.

import type { Action } from "../state/state.ts";
import { clockKeys } from "./clock.ts";
import { faultKeys } from "./faults.ts";
import { merchantKeys } from "./merchants.ts";
import { snapshotKeys } from "./snapshots.ts";
import { trafficKeys } from "./traffic.ts";
import { triggerKeys } from "./trigger.ts";
import { undoKeys } from "./undo.ts";

export const controls: readonly Action[] = [
  ...faultKeys,
  ...undoKeys,
  ...triggerKeys,
  ...clockKeys,
  ...merchantKeys,
  ...trafficKeys,
  ...snapshotKeys,
];
