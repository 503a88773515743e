// What one look at an expectation shows: whether it holds now, what speaks for that, and whether waiting could still change it.

import type { Verdict } from "../contracts/expectations.ts";
import { type Count, compareCount, describeCount } from "../schema/conditions.ts";

export interface Look {
  verdict: Verdict;
  message: string;
  found: number;
  /** Ids of what was found, the newest of many. */
  evidence: string[];
  /** What came nearest to what was missed, and where it differs. */
  closest: NearMiss[];
  /** True while something that may yet happen could make it hold. */
  open: boolean;
}

export interface NearMiss {
  id: string;
  /** What it is, in a few words. */
  what: string;
  differs: Difference[];
}

export interface Difference {
  field: string;
  wanted: unknown;
  /** Null where there is nothing. */
  received: unknown;
}

/** Looks at one expectation, so many real milliseconds after it was asked for. */
export type Check = (elapsed: number) => Look;

export const MOST_EVIDENCE = 20;
const AT_LEAST_ONCE: Count = { at_least: 1 };

export const look = (verdict: Verdict, message: string, rest: Partial<Look> = {}): Look => ({
  verdict,
  message,
  found: 0,
  evidence: [],
  closest: [],
  open: false,
  ...rest,
});

/** How one of a kind is called, and several. */
export type Noun = readonly [one: string, many: string];

/** Holds the ids of what was found against a count. */
export function lookAtCount(
  ids: readonly string[],
  count: Count = AT_LEAST_ONCE,
  [one, many]: Noun,
  closest: () => NearMiss[] = () => [],
): Look {
  const compared = compareCount(count, ids.length);
  const seen = { found: ids.length, evidence: ids.slice(-MOST_EVIDENCE) };
  const told = `${ids.length} ${ids.length === 1 ? one : many} matched`;
  if (compared === "right")
    return look("pass", `${told}, and ${describeCount(count)} ${count.exactly === 1 ? "was" : "were"} wanted.`, seen);
  const isMissing = compared === "too few";
  const message = `${told}; ${describeCount(count)} ${count.exactly === 1 ? "was" : "were"} wanted.`;
  return look("fail", message, { ...seen, closest: isMissing ? closest() : [], open: isMissing });
}
