// The page of the stand-in's differences: what the sandbox does without a service file, and the entries of the file that adopt each.

import type { FactValue, ServiceFact } from "../../../src/contracts/fact.ts";
import { entryValue, type ServiceFile } from "../../../src/service/service-file.ts";

export interface DifferenceRow {
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

export function differencesPage(rows: readonly DifferenceRow[], facts: readonly ServiceFact[]): string {
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
  row.cannotBeAdopted ? "cannot be adopted" : limited(shownEntries(row).map(([id, value]) => `${code(id)} ${shown(value)}`));

/** The fact of an entry: the one that all operations share, or the one that is renamed. */
const ownFact = (id: string) => id.slice(id.indexOf("/") + 1).replace(/\.name$/, "");

/** Undefined for a field that the sandbox does not have. */
const ownValue = (id: string, own: ReadonlyMap<string, FactValue>) => own.get(id.slice(id.indexOf("/") + 1)) ?? own.get(ownFact(id));

const limited = (texts: readonly string[]) =>
  [...texts.slice(0, MOST_ENTRIES), ...(texts.length > MOST_ENTRIES ? [`and ${texts.length - MOST_ENTRIES} more`] : [])].join("<br>");

const code = (text: string) => `\`${text}\``;

const MOST_LETTERS = 60;

function shown(value: FactValue | undefined): string {
  if (value === undefined) return "absent";
  const text = Array.isArray(value) ? value.join(", ") : String(value);
  return text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS)}…` : text;
}
