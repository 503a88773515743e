// The judge's verdicts on each behaviour of a client, for several delays before the next try, alone and beside other
// clients.

import { describe, expect, test } from "vitest";
import { newJudge, requestEntry } from "../support/judge-inputs.ts";
import { type Behaviour, behaviours, DELAYS, firingOf, type Observed } from "./behaviours.ts";

function verdictsOn(calls: readonly Observed[]): Record<string, Set<string>> {
  const judge = newJudge();
  for (const observed of calls) {
    const firing = firingOf(observed);
    if (firing) judge.fired(firing);
    judge.request(observed.entry);
  }
  const found: Record<string, Set<string>> = {};
  for (const { rule, verdict } of judge.verdicts()) found[rule] = (found[rule] ?? new Set()).add(verdict);
  return found;
}

/** Adds the calls of 20 workers with the same API key. Each of them reads one record repeatedly. */
function besideWorkers(calls: readonly Observed[]): Observed[] {
  const connections = Array.from({ length: 20 }, (_, worker) => ({ number: 1_000 + worker, opened: 1e9 - 10_000 }));
  const last = Math.max(...calls.map(({ entry }) => entry.arrived)) - 1e9;
  const beside = connections.flatMap((connection, worker) =>
    Array.from({ length: 40 }, (_, round) => {
      const at = -3_000 + ((last + 3_000) * (round + worker / 20)) / 40;
      const path = `/v1/payments/pay_${worker}`;
      return { entry: requestEntry(at, 200, { connection, path, operation: undefined, duration: 2 }) };
    }),
  );
  return [...calls, ...beside].sort((one, other) => one.entry.arrived - other.entry.arrived);
}

const check = (
  { expected, calls }: Behaviour,
  delay: number,
  around: (calls: readonly Observed[]) => readonly Observed[],
) => {
  const found = verdictsOn(around(calls(delay)));
  const failed = Object.keys(found).filter((rule) => found[rule]?.has("fail"));
  const wanted = Object.keys(expected).filter((rule) => expected[rule] === "fail");
  expect(failed.sort()).toEqual(wanted.sort());
  for (const [rule, verdict] of Object.entries(expected)) expect([rule, ...(found[rule] ?? [])]).toContain(verdict);
};

describe.each(behaviours.map((behaviour) => [behaviour.name, behaviour] as const))(
  "a client that %s",
  (_, behaviour) => {
    test.each(behaviour.delays ?? DELAYS)("gets the expected verdicts if it waits %i ms", (delay) =>
      check(behaviour, delay, (calls) => calls),
    );
    test.each(behaviour.delays ?? DELAYS)("gets the expected verdicts if it waits %i ms beside 20 workers", (delay) =>
      check(behaviour, delay, besideWorkers),
    );
  },
);
