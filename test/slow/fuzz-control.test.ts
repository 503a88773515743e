// Fuzzes the bodies of the control API in any order: each gets a valid response, and none affects the next.

import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { resources } from "../../src/areas/index.ts";
import { controlCatalogue } from "../../src/control/index.ts";
import { type ErrorCode, errors } from "../../src/kernel/errors.ts";
import { anyText } from "../support/any-text.ts";
import { attempted } from "../support/attacks.ts";
import { type Change, changed, changeOf, type Edit, edit, edited, JSON_TOKENS, runs } from "../support/fuzzing.ts";
import { type Answer, type Bench, share } from "../support/sandbox.ts";

interface Call {
  /** Index of the operation, modulo their number. */
  operation: number;
  edits: Edit[];
  changes: Change[];
  param: string;
  query: string;
}

const call: fc.Arbitrary<Call> = fc.record({
  operation: fc.nat({ max: 200 }),
  edits: fc.array(edit, { maxLength: 3 }),
  changes: fc.oneof(
    { weight: 4, arbitrary: fc.constant<Change[]>([]) },
    { weight: 1, arbitrary: fc.array(changeOf(JSON_TOKENS), { minLength: 1, maxLength: 3 }) },
  ),
  param: fc.oneof(
    fc.constantFrom(
      "payment",
      "booking",
      "bkg_pending",
      "mer_lodge",
      "lodge",
      "one",
      "req_1",
      "evt_1",
      "brownout",
      "__proto__",
      "..",
      "%00",
    ),
    fc.constantFrom(...resources.map(({ kind }) => kind)),
    anyText({ minLength: 1, maxLength: 20 }),
  ),
  query: fc.oneof(
    fc.constantFrom("", "?limit=1", "?limit=1e9", "?merchant=mer_lodge", "?merchant=__proto__", "?status=5xx", "?strict=1", "?since=NaN"),
    fc
      .array(fc.tuple(fc.constantFrom("limit", "starting_after", "status", "x"), anyText({ maxLength: 12 })), { maxLength: 4 })
      .map((pairs) => `?${new URLSearchParams(pairs)}`),
  ),
});

/** Operations that wait for a duration in the body, which are excluded. */
const WAITING = ["sandbox.drain", "sandbox.verify"];
const operations = controlCatalogue.filter(({ id }) => !WAITING.includes(id));

let bench: Bench;
beforeAll(async () => {
  bench = await share({ rateLimit: "none" });
});
afterAll(() => bench.close());

/** `documents`: media types other than JSON that a success may have. */
function expectSound({ status, headers, text, body }: Answer, label: string, documents: Readonly<Record<string, string>> = {}): void {
  expect(status, label).toBeLessThan(500);
  const types = status < 300 ? Object.values(documents) : [];
  expect(["application/json", ...types], label).toContain(headers["content-type"]?.replace(/;.*/, ""));
  if (status < 400 || text === "") return;
  const known = errors[body.code as ErrorCode];
  expect([status, body.error, Object.keys(body)], label).toEqual([known?.status, known?.error, ["error", "message", "code", "details"]]);
}

async function send({ operation: place, edits, changes, param, query }: Call): Promise<void> {
  const operation = operations[place % operations.length] as (typeof operations)[number];
  const path = `/_sandbox${operation.path.replace(/\{\w+\}/g, () => encodeURIComponent(param))}${query}`;
  const written = JSON.stringify(edited(operation.example ?? {}, edits)) ?? "null";
  const body = operation.method === "GET" ? undefined : changed(Buffer.from(written), changes);
  attempted("Malformed input");
  const answer = await bench.call(operation.method, path, { key: null, body });
  const label = `${operation.method} ${path} ${body?.subarray(0, 1_000)}: ${answer.status} ${answer.text.slice(0, 500)}`;
  expectSound(answer, label, operation.documents);
  expect(bench.defects.splice(0), label).toEqual([]);
}

test("any body gets a valid response, and the sandbox continues", async () => {
  const property = fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 4 }), async (calls) => {
    for (const one of calls) await send(one);
    expect((await bench.call("GET", "/_sandbox/health", { key: null })).status).toBe(200);
  });
  await fc.assert(property, runs(120));
});
