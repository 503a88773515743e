// Records which fault rules fired at which requests and delivery attempts, and which verdicts each was set up to cause.

import type { Firing } from "../contracts/fault.ts";
import { setBounded } from "../kernel/bounded-cache.ts";

const MAX_KEPT = 5_000;

export function createFirings() {
  const byRequest = new Map<string, Firing[]>();
  const byAttempt = new Map<string, Firing[]>();
  const withExpectations = new Map<string, Firing>();
  return {
    record(firing: Firing) {
      if (firing.requestId !== null) addTo(byRequest, firing.requestId, firing);
      if (firing.attemptId !== null) addTo(byAttempt, firing.attemptId, firing);
      if (firing.expect.length > 0 && withExpectations.size < MAX_KEPT) withExpectations.set(firing.ruleId, firing);
    },
    has: (request: string) => byRequest.has(request),
    ofRequest: (request: string) => byRequest.get(request) ?? [],
    ofAttempt: (attempt: string) => byAttempt.get(attempt) ?? [],
    /** The verdicts that fired faults should cause: one for each rule of the judge, or pattern, in their `expect`. */
    expectedVerdicts: () =>
      [...withExpectations.values()].flatMap((firing) =>
        firing.expect.map((pattern) => ({ firing, expected: { rules: [pattern], faults: [firing.ruleId] } })),
      ),
    forget(merchant?: string) {
      for (const map of [byRequest, byAttempt, withExpectations] as Map<string, Firing | Firing[]>[])
        for (const [key, firings] of map)
          if (merchant === undefined || [firings].flat().every((firing) => firing.merchant === merchant))
            map.delete(key);
    },
  };
}

/** The map drops its oldest entry when it is full, because that request or attempt ended long ago. */
const addTo = (map: Map<string, Firing[]>, key: string, firing: Firing) =>
  setBounded(map, key, [...(map.get(key) ?? []), firing], MAX_KEPT);

/**
 * For this many sandbox milliseconds after a rotation, a delivery signed with the previous secret counts as genuine;
 * later it counts as forged.
 */
const ROTATION_GRACE = 5 * 60_000;

/** Whether every fault left the delivery genuine, so that the receiver must accept it. */
export const isGenuine = (firings: readonly Firing[]) => firings.every((firing) => outcomeOf(firing) === "genuine");

export const isForged = (firings: readonly Firing[]) => firings.some((firing) => outcomeOf(firing) === "forged");

function outcomeOf({ outcome, rotatedAt, at }: Firing): Firing["outcome"] {
  if (outcome !== "previous_secret") return outcome;
  return rotatedAt !== null && at - rotatedAt <= ROTATION_GRACE ? "genuine" : "forged";
}
