// Whether a fault changed a delivery or forged its signature.

import type { Firing } from "../contracts/fault.ts";

/** For this long after a rotation, in sandbox milliseconds, a delivery signed with the previous secret is genuine; later it is forged. */
const ROTATION_GRACE = 5 * 60_000;

/** Whether no fault changed the delivery: only then must the receiver accept it. */
export const isGenuine = (firings: readonly Firing[]) => firings.every((firing) => outcomeOf(firing) === "genuine");

export const isForged = (firings: readonly Firing[]) => firings.some((firing) => outcomeOf(firing) === "forged");

function outcomeOf({ outcome, rotatedAt, at }: Firing): Firing["outcome"] {
  if (outcome !== "previous_secret") return outcome;
  return rotatedAt !== null && at - rotatedAt <= ROTATION_GRACE ? "genuine" : "forged";
}
