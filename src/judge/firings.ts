// Which fault rules struck which requests and attempts, and what each was meant to bring out.

import type { Firing } from "../contracts/fault.ts";

/** A rule of the judge that a fault was set up to try: its id, or several at once. */
export interface Expectation {
  firing: Firing;
  pattern: string;
}

export interface Firings {
  note(firing: Firing): void;
  has(request: string): boolean;
  ofRequest(request: string): readonly Firing[];
  ofAttempt(attempt: string): readonly Firing[];
  /** One for each fault rule that fired and each rule that it expects to hear of. */
  expectations(): Expectation[];
  forget(merchant?: string): void;
}

const MOST_KEPT = 5_000;
const NONE: readonly Firing[] = [];

export function createFirings(): Firings {
  const byRequest = new Map<string, Firing[]>();
  const byAttempt = new Map<string, Firing[]>();
  const expecting = new Map<string, Firing>();
  const forgetIn = (map: Map<string, Firing | Firing[]>, merchant: string | undefined) => {
    for (const [name, firing] of [...map])
      if (merchant === undefined || [firing].flat().every((struck) => struck.merchant === merchant)) map.delete(name);
  };
  return {
    note(firing) {
      if (firing.requestId !== null) addTo(byRequest, firing.requestId, firing);
      if (firing.attemptId !== null) addTo(byAttempt, firing.attemptId, firing);
      if (firing.expect.length > 0 && expecting.size < MOST_KEPT) expecting.set(firing.ruleId, firing);
    },
    has: (request) => byRequest.has(request),
    ofRequest: (request) => byRequest.get(request) ?? NONE,
    ofAttempt: (attempt) => byAttempt.get(attempt) ?? NONE,
    expectations: () => [...expecting.values()].flatMap((firing) => firing.expect.map((pattern) => ({ firing, pattern }))),
    forget(merchant) {
      for (const map of [byRequest, byAttempt, expecting]) forgetIn(map, merchant);
    },
  };
}

/** The oldest go first: what they struck has ended long ago. */
function addTo(map: Map<string, Firing[]>, name: string, firing: Firing): void {
  const struck = map.get(name);
  if (struck) {
    struck.push(firing);
    return;
  }
  if (map.size === MOST_KEPT) for (const oldest of [...map.keys()].slice(0, 1)) map.delete(oldest);
  map.set(name, [firing]);
}
