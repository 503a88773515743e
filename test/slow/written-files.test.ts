// The file that compare writes is one that a start takes, whatever the recording shows, even where its differences contradict one another.

import fc from "fast-check";
import { expect, test } from "vitest";
import { compare } from "../../src/compare/compare.ts";
import { serviceFileOf } from "../../src/compare/write-service.ts";
import { comparedSandbox } from "../../src/sandbox/documents.ts";
import { readService } from "../../src/sandbox/service.ts";
import { adoptedFacts, type ServiceFile } from "../../src/service/service-file.ts";
import type { Behaviour } from "../support/real-service/behaviour.ts";
import { recordingOf, refusedIn, sandbox } from "../support/real-service/comparison.ts";
import { differences } from "../support/real-service/differences.ts";
import type { Stored } from "../support/real-service/records.ts";
import { serviceFile } from "../support/service-file.ts";

const limit = fc.constantFrom(1, 2, 3, 10, 25, 49, 50, 51, 99, 100, 101);
const bounds = fc.record({ default: limit, minimum: limit, maximum: limit, clamps: fc.boolean() });
const prefix = fc.constantFrom("pay", "prl", "bkg", "rec");
const field = fc.constantFrom("amount", "status", "customerId", "customer", "fee", "total", "total amount", "x".repeat(90));
const type = fc.constantFrom("booking.declined", "pricing_rule.created", "payment.succeeded", "done");
/** Half of the time as the sandbox has it. */
const sometimes = <Value>(other: fc.Arbitrary<Value>) => fc.option(other, { nil: undefined, freq: 2 });

const service = fc.record({
  chosen: fc.subarray([...differences], { maxLength: 12 }),
  bounds: sometimes(bounds),
  prefixes: fc.record({ payments: sometimes(prefix), bookings: sometimes(prefix), rules: sometimes(prefix) }),
  renamed: fc.array(fc.tuple(field, field), { maxLength: 2 }),
  status: sometimes(field),
  types: fc.record({ "booking.declined": sometimes(type), "pricing_rule.created": sometimes(type) }),
  required: sometimes(field),
});

type Service = typeof service extends fc.Arbitrary<infer Value> ? Value : never;

function behave(to: Behaviour, { chosen, bounds: both, prefixes, renamed, status, types, required }: Service): void {
  for (const { change } of chosen) change(to);
  if (both !== undefined) Object.assign(to.lists, { payments: both, payouts: both });
  if (required !== undefined) to.pricingRule.required.push(required);
  for (const [name, other] of Object.entries(types)) if (other !== undefined) to.events.names[name] = other;
  const { record } = to;
  to.record = (one, kind) => {
    const shown: Stored = { ...record(one, kind) };
    const other = prefixes[kind as keyof typeof prefixes];
    if (other !== undefined) shown.id = String(shown.id).replace(/^[a-z]+/, other);
    if (kind !== "payments") return shown;
    if (status !== undefined && shown.status === "refunded") shown.status = status;
    for (const [from, name] of renamed) {
      shown[name] = shown[from];
      delete shown[from];
    }
    return shown;
  };
}

/** The file that compare writes of the service, after those that `given` has. */
function written(value: Service, given?: ServiceFile["facts"]): ServiceFile["facts"] {
  const recording = recordingOf((to) => behave(to, value));
  const compared = given === undefined ? sandbox : comparedSandbox(adoptedFacts({ facts: given }));
  const { facts } = serviceFileOf(compared.facts, compare(compared, recording).evidence, { atLeast: 1, refusedIn, given });
  return { ...given, ...facts };
}

test("a file that is written from a recording, and added to from another, can be started with", async () => {
  await fc.assert(
    fc.asyncProperty(service, service, async (first, second) => {
      const facts = written(first);
      for (const file of [facts, written(second, facts)]) expect((await readService(serviceFile(file))).operations).not.toEqual([]);
    }),
    { numRuns: 8 },
  );
});
