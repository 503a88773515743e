// Records which fault rules fired at which requests and delivery attempts, and which verdicts each was set up to cause.

import type { Firing } from "../contracts/fault.ts";

export type Firings = ReturnType<typeof createFirings>;

const MAX_KEPT = 5_000;
const NONE: readonly Firing[] = [];

export function createFirings() {
  const byRequest = new Map<string, Firing[]>();
  const byAttempt = new Map<string, Firing[]>();
  const withExpectations = new Map<string, Firing>();
  const forgetIn = (map: Map<string, Firing | Firing[]>, merchant: string | undefined) => {
    for (const [key, firings] of [...map])
      if (merchant === undefined || [firings].flat().every((firing) => firing.merchant === merchant)) map.delete(key);
  };
  return {
    record(firing: Firing) {
      if (firing.requestId !== null) addTo(byRequest, firing.requestId, firing);
      if (firing.attemptId !== null) addTo(byAttempt, firing.attemptId, firing);
      if (firing.expect.length > 0 && withExpectations.size < MAX_KEPT) withExpectations.set(firing.ruleId, firing);
    },
    has: (request: string) => byRequest.has(request),
    ofRequest: (request: string) => byRequest.get(request) ?? NONE,
    ofAttempt: (attempt: string) => byAttempt.get(attempt) ?? NONE,
    /** The verdicts that faults were set up to cause: one per fired fault and pattern, which matches one or more ids of judge rules. */
    expectedVerdicts: () => [...withExpectations.values()].flatMap((firing) => firing.expect.map((pattern) => ({ firing, pattern }))),
    forget(merchant?: string) {
      for (const map of [byRequest, byAttempt, withExpectations]) forgetIn(map, merchant);
    },
  };
}

/** Drops the oldest entry when the map is full, because its request or attempt ended long ago. */
function addTo(map: Map<string, Firing[]>, key: string, firing: Firing): void {
  const firings = map.get(key);
  if (firings) {
    firings.push(firing);
    return;
  }
  if (map.size === MAX_KEPT) for (const oldest of [...map.keys()].slice(0, 1)) map.delete(oldest);
  map.set(key, [firing]);
}

/** Sandbox milliseconds after a rotation in which a delivery signed with the previous secret is genuine; later it counts as forged. */
const ROTATION_GRACE = 5 * 60_000;

/** Whether every fault left the delivery genuine, so that the receiver must accept it. */
export const isGenuine = (firings: readonly Firing[]) => firings.every((firing) => outcomeOf(firing) === "genuine");

export const isForged = (firings: readonly Firing[]) => firings.some((firing) => outcomeOf(firing) === "forged");

function outcomeOf({ outcome, rotatedAt, at }: Firing): Firing["outcome"] {
  if (outcome !== "previous_secret") return outcome;
  return rotatedAt !== null && at - rotatedAt <= ROTATION_GRACE ? "genuine" : "forged";
}
