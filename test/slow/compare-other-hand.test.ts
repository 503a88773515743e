// A service of another hand: what it writes differently everywhere is one finding each, and no written file takes a
// reply farther from the recording.

import fc from "fast-check";
import { expect, test } from "vitest";
import { keepNearer } from "../../src/compare/check-file.ts";
import { compare } from "../../src/compare/compare.ts";
import type { Reply } from "../../src/compare/distance.ts";
import { findingsOf } from "../../src/compare/text.ts";
import { playRecording } from "../../src/sandbox/play-recording.ts";
import type { ServiceFile } from "../../src/service/service-file.ts";
import { inputs } from "../support/fuzzing.ts";
import { changeTo, fileOf, recordingOf, refusedIn, sandbox } from "../support/real-service/comparison.ts";
import { differences } from "../support/real-service/differences.ts";
import { type Trait, traits } from "../support/real-service/other-hand.ts";

const shapeOf: Record<Trait, string> = {
  snake_case: "names",
  envelopes: "envelope",
  uuids: "ids",
  "problem+json": "errors",
  "token cursors": "pagination",
  "decimal amounts": "amounts",
  "ISO times": "times",
  "payload under data.object": "events",
  "t=,v1= signatures": "signature",
};

test("is found in one finding for each of its habits, and in two for the records that are recognised; no value is contradicted", () => {
  const found = compare(sandbox, recordingOf(undefined, traits));
  expect(found.shapes.map(({ kind }) => kind).sort()).toEqual(Object.values(shapeOf).sort());
  expect(findingsOf(found).flatMap(({ findings }) => findings.map(({ facts, seen }) => [facts, seen]))).toEqual([
    [["customer.created.format", "webhooks.create.reply.created.format", "event.created.format"], "ISO 8601 time"],
  ]);
  const renamed = ["customer.merchantId.name", "webhooks.create.reply.merchantId.name", "event.merchantId.name"];
  expect(Object.keys(fileOf(recordingOf(undefined, traits)).facts).filter((id) => id.endsWith(".name"))).toEqual(
    renamed,
  );
});

test.each(["uuids", "problem+json", "token cursors", "payload under data.object", "t=,v1= signatures"] as const)(
  "with nothing but %s, has that one finding, and the rest is compared field by field",
  (trait) => {
    const found = compare(sandbox, recordingOf(undefined, [trait]));
    expect(found.shapes.map(({ kind }) => kind)).toEqual([shapeOf[trait]]);
    expect(findingsOf(found)).toEqual([]);
    expect(found.verdicts.filter(({ verdict }) => verdict === "confirmed").length).toBeGreaterThan(400);
  },
);

test("has its statuses, codes, values and limits compared through its names and envelopes", () => {
  const change = changeTo(
    differences.filter(({ name }) => /refund|declining|limit out|payouts take|unknown id|second decline/.test(name)),
  );
  const contradicted = compare(sandbox, recordingOf(change, traits)).verdicts.flatMap(({ fact, seen }) =>
    seen.length > 0 ? [fact.id] : [],
  );
  expect(contradicted).toEqual(
    expect.arrayContaining([
      ...[
        "bookings.decline.status",
        "error.resource_not_found.status",
        "error.resource_not_found.code",
        "error.invalid_state.code",
      ],
      ...["error.invalid_limit.status", "payouts.list.query.limit.maximum", "payment.status.values"],
    ]),
  );
});

/**
 * Written apart from the distance of the product: the status, the code of an error, and the names of the outermost
 * fields.
 */
function apart(recorded: Reply, played: Reply): number {
  const isError = ({ status }: Reply) => status >= 400;
  if (isError(recorded) !== isError(played)) return 1_000;
  const status = recorded.status === played.status ? 0 : 10;
  const [own, other] = [recorded, played].map(
    ({ body }) => (typeof body === "object" && body !== null ? body : {}) as { code?: unknown },
  );
  const names = new Set([...Object.keys(own as object), ...Object.keys(other as object)]);
  const lone = [...names].filter((name) => Object.hasOwn(own as object, name) !== Object.hasOwn(other as object, name));
  return status + lone.length + (isError(recorded) && own?.code !== other?.code ? 1 : 0);
}

test("no reply comes out farther from the recording by a written file, for any of the differences and habits", async () => {
  const property = fc.asyncProperty(fc.subarray([...differences]), fc.subarray([...traits]), async (chosen, habits) => {
    const recording = recordingOf(changeTo(chosen), habits);
    const { traffic } = compare(sandbox, recording).evidence;
    const play = (facts: ServiceFile["facts"]) => playRecording(traffic, recording.deliveries, facts);
    const { facts } = await keepNearer(fileOf(recording).facts, { refusedIn, play });
    const [before, after] = [
      await playRecording(traffic, [], {}, apart),
      await playRecording(traffic, [], facts, apart),
    ];
    expect([...after].filter(([entry, distance]) => distance > (before.get(entry) as number))).toEqual([]);
  });
  await fc.assert(property, { numRuns: inputs(3) });
});

test("an entry with which a reply comes out farther is dropped, and named with the reply", async () => {
  const recording = recordingOf();
  const play = (facts: ServiceFile["facts"]) =>
    playRecording(compare(sandbox, recording).evidence.traffic, recording.deliveries, facts);
  const wrong = {
    "payment.fee": "absent",
    "bookings.decline.status": 202,
    "error.missing_api_key.code": "missing_api_key",
  };
  const { facts, dropped } = await keepNearer(wrong, { refusedIn, play });
  expect(facts).toEqual({ "error.missing_api_key.code": "missing_api_key" });
  expect(dropped.map(({ id }) => id).sort()).toEqual(["bookings.decline.status", "payment.fee"]);
  expect(dropped[0]?.why).toMatch(/^with it, the sandbox comes out farther from the recording at service\.har#\d+$/);
});
