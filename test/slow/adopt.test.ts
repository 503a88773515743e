// From a recording to a service file and back: what compare writes leaves nothing for a second compare but what the
// table calls impossible.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compare } from "../../src/compare/compare.ts";
import type { Recording } from "../../src/compare/recording.ts";
import { serviceFileOf } from "../../src/compare/write-service.ts";
import type { FactValue, ServiceFact } from "../../src/contracts/fact.ts";
import { oncePerKey } from "../../src/kernel/once.ts";
import { comparedSandbox } from "../../src/sandbox/documents.ts";
import { adoptedFacts, entryValue, type ServiceFile } from "../../src/service/service-file.ts";
import { inputs } from "../support/fuzzing.ts";
import {
  changeTo,
  contradictedIn,
  everyDifference,
  fileOf,
  recordingOf,
  refusedIn,
  sandbox,
} from "../support/real-service/comparison.ts";
import { type Difference, differences } from "../support/real-service/differences.ts";

interface DifferenceRow {
  name: string;
  contradicts: readonly string[];
  cannotBeAdopted?: true;
  file: ServiceFile;
}

const HEAD = `# Differences that a service file adopts

Each row is one way in which a service differs from the sandbox. A test plays it alone with a stand-in for the service: \`compare\` finds it in the
recording, \`--write\` writes these entries, and under \`--service\` a second comparison finds nothing left. [real-service.md](../../../docs/real-service.md) says how.
\`npx vitest run test/slow/adopt.test.ts -u\` writes this page.

| The service | The sandbox alone | The service file |
| --- | --- | --- |
`;

function differencesPage(rows: readonly DifferenceRow[], facts: readonly ServiceFact[]): string {
  const own = new Map(facts.map(({ id, value }) => [id, value]));
  return HEAD + rows.map((row) => `| ${row.name} | ${before(row, own)} | ${after(row)} |\n`).join("");
}

const MOST_ENTRIES = 2;

/** First the entries about the facts that the difference is meant to contradict. */
function shownEntries({ contradicts, file }: DifferenceRow): [id: string, value: FactValue][] {
  const entries = Object.entries(file.facts).map(([id, entry]): [string, FactValue] => [id, entryValue(entry)]);
  const isMeant = ([id]: [string, FactValue]) => contradicts.some((fact) => id === fact || id.endsWith(`/${fact}`));
  return [...entries.filter(isMeant), ...entries.filter((entry) => !isMeant(entry))];
}

function before(row: DifferenceRow, own: ReadonlyMap<string, FactValue>): string {
  const ids = row.cannotBeAdopted ? row.contradicts : shownEntries(row).map(([id]) => id);
  return limited(ids.map((id) => `${code(ownFact(id))} ${shown(ownValue(id, own))}`));
}

const after = (row: DifferenceRow) =>
  row.cannotBeAdopted
    ? "cannot be adopted"
    : limited(shownEntries(row).map(([id, value]) => `${code(id)} ${shown(value)}`));

/** The fact of an entry: the one that all operations share, or the one that is renamed. */
const ownFact = (id: string) => id.slice(id.indexOf("/") + 1).replace(/\.name$/, "");

/** Undefined for a field that the sandbox does not have. */
const ownValue = (id: string, own: ReadonlyMap<string, FactValue>) =>
  own.get(id.slice(id.indexOf("/") + 1)) ?? own.get(ownFact(id));

const limited = (texts: readonly string[]) =>
  [
    ...texts.slice(0, MOST_ENTRIES),
    ...(texts.length > MOST_ENTRIES ? [`and ${texts.length - MOST_ENTRIES} more`] : []),
  ].join("<br>");

const code = (text: string) => `\`${text}\``;

const MOST_LETTERS = 60;

function shown(value: FactValue | undefined): string {
  if (value === undefined) return "absent";
  const text = Array.isArray(value) ? value.join(", ") : String(value);
  return text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS)}…` : text;
}

/** The ids of the facts that the recording contradicts under the file. */
const leftUnder = (file: ServiceFile, recording: Recording) =>
  contradictedIn(compare(comparedSandbox(adoptedFacts(file)), recording));

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

const impossible = differences
  .filter(({ cannotBeAdopted }) => cannotBeAdopted)
  .flatMap(({ contradicts }) => contradicts);

/** Under the file that compare writes of the recording, only its questions and what cannot be adopted are left. */
function expectAdopted(recording: Recording): void {
  const file = fileOf(recording);
  expect(refusedIn(file.facts)).toBeUndefined();
  const asked = (file.questions ?? []).map(({ fact }) => fact);
  expect(leftUnder(file, recording).filter((id) => !impossible.includes(id) && !asked.includes(id))).toEqual([]);
}

test("all differences together leave only questions and the impossible ones", () =>
  expectAdopted(recordingOf(everyDifference)));

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
