// Whether the receiver got a delivery as the service sends it, or a forged one.

import type { Firing } from "../contracts/fault.ts";

/**
 * A delivery that was in flight while the secret was rotated is signed with the previous one: for so many sandbox milliseconds after
 * the rotation that signature is genuine, and a forgery later.
 */
const ROTATION_GRACE = 5 * 60_000;

/** Whether no fault changed the delivery: only then must the receiver accept it. */
export const isGenuine = (firings: readonly Firing[]) => firings.every((firing) => outcomeOf(firing) === "genuine");

export const isForged = (firings: readonly Firing[]) => firings.some((firing) => outcomeOf(firing) === "forged");

function outcomeOf({ outcome, rotatedAt, at }: Firing): Firing["outcome"] {
  if (outcome !== "previous_secret") return outcome;
  return rotatedAt !== null && at - rotatedAt <= ROTATION_GRACE ? "genuine" : "forged";
}
