// Whether a delivery went out as the service would send it.

import type { Firing } from "../contracts/fault.ts";

/** Actions that change what arrives, or how: whatever the receiver answers then says nothing of its usual ways. */
const CHANGING = new Set(["signature", "payload", "transport", "drop"]);

/** What was on its way while a secret was rotated carries the old one: for so many sandbox milliseconds that is no forgery. */
const GRACE = 5 * 60_000;

export const isUntouched = (faults: readonly Firing[]) => !faults.some((fault) => CHANGING.has(fault.action) && !wasOnItsWay(fault));

export const isForged = (faults: readonly Firing[]) => faults.some((fault) => fault.action === "signature" && !wasOnItsWay(fault));

/** Whether it is signed as a delivery that was under way when the secret was rotated. */
const wasOnItsWay = ({ action, form, rotatedAt, at }: Firing) =>
  action === "signature" && form === "previous_secret" && rotatedAt !== null && at - rotatedAt <= GRACE;
