// Compares a service that was written independently of the sandbox. A difference in all of its responses, such as UUIDs
// as ids, is reported as one finding.

import { expect, test } from "vitest";
import { compare } from "../../src/compare/compare.ts";
import { findingsOf } from "../../src/compare/text.ts";
import { changeTo, recordingOf, sandbox } from "../support/real-service/comparison.ts";
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

test("each habit of the independently written service is reported once, besides only the format of times", () => {
  const found = compare(sandbox, recordingOf(undefined, traits));
  expect(found.shapes.map(({ kind }) => kind).sort()).toEqual(Object.values(shapeOf).sort());
  expect(findingsOf(found).flatMap(({ findings }) => findings.map(({ facts, seen }) => [facts, seen]))).toEqual([
    [["customer.created.format", "webhooks.create.reply.created.format", "event.created.format"], "ISO 8601 time"],
  ]);
});

test.each(["uuids", "problem+json", "token cursors", "payload under data.object", "t=,v1= signatures"] as const)(
  "a service whose only habit is %s has only that finding, and all else is compared field by field",
  (trait) => {
    const found = compare(sandbox, recordingOf(undefined, [trait]));
    expect(found.shapes.map(({ kind }) => kind)).toEqual([shapeOf[trait]]);
    expect(findingsOf(found)).toEqual([]);
    expect(found.verdicts.filter(({ verdict }) => verdict === "confirmed").length).toBeGreaterThan(400);
  },
);

test("statuses, codes, values and limits are compared in spite of other names and envelopes", () => {
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
