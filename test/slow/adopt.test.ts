// From a recording to a service file and back: what compare writes leaves nothing for a second compare but what the table calls impossible.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Comparison, compare } from "../../src/compare/compare.ts";
import { readHar, readWebhooks } from "../../src/compare/read-recording.ts";
import type { Recording } from "../../src/compare/recording.ts";
import { serviceFileOf } from "../../src/compare/write-service.ts";
import { oncePerKey } from "../../src/kernel/once.ts";
import { comparedSandbox } from "../../src/sandbox/documents.ts";
import { createFileCheck } from "../../src/service/file-check.ts";
import { adoptedFacts, type ServiceFile } from "../../src/service/service-file.ts";
import { inputs } from "../support/fuzzing.ts";
import { type Difference, differences } from "../support/real-service/differences.ts";
import { differencesPage } from "../support/real-service/differences-page.ts";
import { createRealService } from "../support/real-service/service.ts";
import { recordSession } from "../support/real-service/session.ts";

const sandbox = comparedSandbox();
const refusedIn = createFileCheck({ facts: sandbox.facts, operations: sandbox.operations.map(({ id }) => id) });

function recordingOf(chosen: readonly Difference[]): Recording {
  const service = createRealService((to) => {
    for (const { change } of chosen) change(to);
  });
  const { har, webhooks } = recordSession(service);
  return { ...readHar(JSON.stringify(har), "service.har"), deliveries: readWebhooks(`${webhooks.join("\n")}\n`, "received.jsonl") };
}

const fileOf = ({ evidence }: Comparison): ServiceFile => serviceFileOf(sandbox.facts, evidence, { atLeast: 1, refusedIn });

const contradictedIn = ({ verdicts }: Comparison) =>
  verdicts.filter(({ verdict }) => verdict === "contradicted" || verdict === "against_document").map(({ fact }) => fact.id);

/** The ids of the facts that the recording contradicts under the file. */
const leftUnder = (file: ServiceFile, recording: Recording) => contradictedIn(compare(comparedSandbox(adoptedFacts(file)), recording));

/** The recording of one difference, and what a comparison makes of it. */
const alone = oncePerKey((difference: Difference) => {
  const recording = recordingOf([difference]);
  const found = compare(sandbox, recording);
  return { recording, found, file: fileOf(found) };
});

describe("a difference of the service", () => {
  test.each(differences)("$name: is found and adopted, or found and impossible to adopt", (difference) => {
    const { cannotBeAdopted, contradicts } = difference;
    const { recording, found, file } = alone(difference);
    expect(contradictedIn(found).filter((id) => contradicts.includes(id))).not.toEqual([]);
    expect(refusedIn(file.facts)).toBeUndefined();
    const left = leftUnder(file, recording);
    if (cannotBeAdopted) expect(left.filter((id) => contradicts.includes(id))).not.toEqual([]);
    else expect([Object.keys(file.facts).length > 0, left]).toEqual([true, []]);
  });
});

test("docs/adopted-differences.md shows each difference before and after", async () => {
  const rows = differences.map((difference) => ({ ...difference, file: alone(difference).file }));
  await expect(differencesPage(rows, sandbox.facts)).toMatchFileSnapshot("../../docs/adopted-differences.md");
});

const adoptable = differences.filter(({ cannotBeAdopted }) => !cannotBeAdopted);

test("all differences together leave only questions and the impossible ones", () => {
  const recording = recordingOf(differences);
  const file = fileOf(compare(sandbox, recording));
  expect(refusedIn(file.facts)).toBeUndefined();
  const impossible = differences.filter(({ cannotBeAdopted }) => cannotBeAdopted).flatMap(({ contradicts }) => contradicts);
  const asked = (file.questions ?? []).map(({ fact }) => fact);
  expect(leftUnder(file, recording).filter((id) => !impossible.includes(id) && !asked.includes(id))).toEqual([]);
});

test("any of the adoptable ones together leave nothing but what the file asks about", () => {
  fc.assert(
    fc.property(fc.subarray([...adoptable]), (chosen) => {
      const recording = recordingOf(chosen);
      const file = fileOf(compare(sandbox, recording));
      expect(refusedIn(file.facts)).toBeUndefined();
      const asked = (file.questions ?? []).map(({ fact }) => fact);
      expect(leftUnder(file, recording).filter((id) => !asked.includes(id))).toEqual([]);
    }),
    { numRuns: inputs(3) },
  );
});
