// Whether a delivery went out as the service would send it.

import type { Firing } from "../kernel/fault.ts";

/** Actions that change what arrives, or how: whatever the receiver answers then says nothing of its usual ways. */
const CHANGING = new Set(["signature", "payload", "transport", "drop"]);

export const isUntouched = (faults: readonly Firing[]) => !faults.some(({ action }) => CHANGING.has(action));
