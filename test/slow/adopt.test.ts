// From a recording to a service file and back: what compare writes leaves nothing for a second compare but what the table calls impossible.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compare } from "../../src/compare/compare.ts";
import type { Recording } from "../../src/compare/recording.ts";
import { serviceFileOf } from "../../src/compare/write-service.ts";
import { oncePerKey } from "../../src/kernel/once.ts";
import { comparedSandbox } from "../../src/sandbox/documents.ts";
import { adoptedFacts, type ServiceFile } from "../../src/service/service-file.ts";
import { inputs } from "../support/fuzzing.ts";
import { changeTo, contradictedIn, everyDifference, fileOf, recordingOf, refusedIn, sandbox } from "../support/real-service/comparison.ts";
import { type Difference, differences } from "../support/real-service/differences.ts";
import { differencesPage } from "../support/real-service/differences-page.ts";

/** The ids of the facts that the recording contradicts under the file. */
const leftUnder = (file: ServiceFile, recording: Recording) => contradictedIn(compare(comparedSandbox(adoptedFacts(file)), recording));

/** The recording of one difference, and the file that compare writes of it. */
const alone = oncePerKey(({ change }: Difference) => {
  const recording = recordingOf(change);
  return { recording, file: fileOf(recording) };
});

describe("a difference of the service", () => {
  test.each(differences)("$name: is found and adopted, or found and impossible to adopt", (difference) => {
    const { cannotBeAdopted, contradicts } = difference;
    const { recording, file } = alone(difference);
    expect(contradictedIn(compare(sandbox, recording))).toEqual(expect.arrayContaining([...contradicts]));
    expect(refusedIn(file.facts)).toBeUndefined();
    const left = leftUnder(file, recording);
    if (cannotBeAdopted) expect(left.filter((id) => contradicts.includes(id))).not.toEqual([]);
    else expect([Object.keys(file.facts).length > 0, left]).toEqual([true, []]);
  });
});

test("the table of differences shows each before and after", async () => {
  const rows = differences.map((difference) => ({ ...difference, file: alone(difference).file }));
  await expect(differencesPage(rows, sandbox.facts)).toMatchFileSnapshot("../support/real-service/README.md");
});

const impossible = differences.filter(({ cannotBeAdopted }) => cannotBeAdopted).flatMap(({ contradicts }) => contradicts);

/** Under the file that compare writes of the recording, only its questions and what cannot be adopted are left. */
function expectAdopted(recording: Recording): void {
  const file = fileOf(recording);
  expect(refusedIn(file.facts)).toBeUndefined();
  const asked = (file.questions ?? []).map(({ fact }) => fact);
  expect(leftUnder(file, recording).filter((id) => !impossible.includes(id) && !asked.includes(id))).toEqual([]);
}

test("all differences together leave only questions and the impossible ones", () => expectAdopted(recordingOf(everyDifference)));

test("any of the adoptable ones together leave nothing but what the file asks about", () => {
  const adoptable = differences.filter(({ cannotBeAdopted }) => !cannotBeAdopted);
  fc.assert(
    fc.property(fc.subarray(adoptable), (chosen) => expectAdopted(recordingOf(changeTo(chosen)))),
    { numRuns: inputs(3) },
  );
});

test("any of them in one recording, and any in a second one, leave a file that a start takes, even where they contradict one another", () => {
  const some = fc.subarray([...differences], { maxLength: 12 });
  fc.assert(
    fc.property(some, some, (first, second) => {
      const given = fileOf(recordingOf(changeTo(first))).facts;
      const under = comparedSandbox(adoptedFacts({ facts: given }));
      const { evidence } = compare(under, recordingOf(changeTo(second)));
      const { facts } = serviceFileOf(under.facts, evidence, { atLeast: 1, refusedIn, given });
      expect([refusedIn(given), refusedIn({ ...given, ...facts })]).toEqual([undefined, undefined]);
    }),
    { numRuns: inputs(6) },
  );
});
