// Turns a comparison into a service file: writes proven differences as values with their evidence, and other
// differences as questions.

import { type FactValue, isByOperation, type Observation, type ServiceFact } from "../contracts/fact.ts";
import { grouped } from "../kernel/grouped.ts";
import { spacedJson } from "../kernel/text.ts";
import type { RefusedEntry } from "../service/file-check.ts";
import type { ServiceFile } from "../service/service-file.ts";
import type { Evidence } from "./compare.ts";
import { addedFields, fieldRenames } from "./write-fields.ts";
import { countOf, decideFact, type FileLine } from "./write-values.ts";

export interface WriteOptions {
  /** Minimum observations of a value. */
  atLeast: number;
  /** The first entry that makes a start reject the file. */
  refusedIn(facts: ServiceFile["facts"]): RefusedEntry | undefined;
  /** The entries of an existing file, to which the differences are added. */
  given?: ServiceFile["facts"] | undefined;
}

type Entry = ServiceFile["facts"][string];

const plain = (value: FactValue) => (typeof value === "object" ? [...value] : value);

/** Writes the differences as a service file. New fields come after all other facts. */
export function serviceFileOf(facts: readonly ServiceFact[], evidence: Evidence, options: WriteOptions): ServiceFile {
  const found = decideAll(facts, evidence);
  const isSeen = ({ seen, together = seen }: FileLine) => together >= options.atLeast;
  const isSure = (line: FileLine) => line.question === undefined && isSeen(line);
  const entries = new Map(
    found
      .filter(isSure)
      .map(({ id, value, seen, entries: places }): [string, Entry] => [id, { value: plain(value), seen, in: places }]),
  );
  const refused = takeRefused(entries, options);
  const questions = found.flatMap((one) => {
    const why = one.question ?? refused.get(one.id) ?? (isSeen(one) ? undefined : rarely(one.seen, options.atLeast));
    return why === undefined ? [] : [{ fact: one.id, seen: [{ value: plain(one.value), count: one.seen }], why }];
  });
  return { facts: Object.fromEntries(entries), ...(questions.length > 0 && { questions }) };
}

const rarely = (seen: number, atLeast: number) =>
  `seen ${seen === 1 ? "once" : `${seen} times`}, fewer than ${atLeast}`;

/**
 * Removes entries, one by one, until a start would accept the file, and returns the reasons. If an entry of the given
 * file is rejected, a new entry contradicts it, so the new one is removed.
 */
function takeRefused(entries: Map<string, Entry>, { given, refusedIn }: WriteOptions): ReadonlyMap<string, string> {
  const taken = new Map<string, string>();
  const check = (without?: string) =>
    refusedIn({ ...given, ...Object.fromEntries([...entries].filter(([id]) => id !== without)) });
  for (let refused = check(); refused !== undefined; refused = check()) {
    const { id, message } = refused;
    const others = [...entries.keys()].filter((one) => given && Object.hasOwn(given, one));
    const cause = entries.has(id)
      ? id
      : (others.find((other) => check(other)?.id !== id) ?? [...entries.keys()].at(-1));
    if (cause === undefined) break;
    entries.delete(cause);
    taken.set(cause, message);
  }
  return taken;
}

function decideAll(facts: readonly ServiceFact[], evidence: Evidence): FileLine[] {
  const found: FileLine[] = [];
  const observed = grouped(evidence.observations, ({ fact }) => fact);
  const renames = fieldRenames(facts, evidence);
  for (const fact of facts) {
    const name = renames.get(fact.id);
    if (name) found.push(name);
    const observations = observed.get(fact.id) ?? [];
    if (name || observations.every(({ agrees }) => agrees)) continue;
    // The format determines the type.
    const form = fact.kind === "type" ? observed.get(fact.id.replace(/type$/, "format")) : undefined;
    if (form?.some(({ agrees }) => !agrees)) continue;
    found.push(...decide(fact, observations, evidence));
  }
  // A renamed field is required under its other name, as the sandbox requires it.
  const required = new Set(
    [...renames].map(([id, { value }]) => `${id.slice(0, id.lastIndexOf("."))}.${value}.required`),
  );
  return [...found.filter(({ id }) => !required.has(id)), ...addedFields(facts, evidence, renames)];
}

/** Writes one line per fact and question, so that versions of the file are easy to compare. */
export function serviceFileText({ $schema, facts, questions = [] }: ServiceFile): string {
  const lines = (rows: readonly string[]) => rows.map((row) => `    ${row}`).join(",\n");
  const facet = (name: string, open: string, rows: readonly string[], close: string) =>
    `  ${JSON.stringify(name)}: ${open}${rows.length === 0 ? "" : `\n${lines(rows)}\n  `}${close}`;
  const entries = Object.entries(facts).map(([id, entry]) => `${JSON.stringify(id)}: ${inBraces(entry)}`);
  const parts = [
    ...($schema === undefined ? [] : [`  "$schema": ${JSON.stringify($schema)}`]),
    facet("facts", "{", entries, "}"),
    ...(questions.length === 0 ? [] : [facet("questions", "[", questions.map(inBraces), "]")]),
  ];
  return `{\n${parts.join(",\n")}\n}`;
}

const inBraces = (value: unknown) => spacedJson(value, " ");

/**
 * One line if all operations show the same value; otherwise a line for each operation that differs. A code has a line
 * for each operation that shows it, because other operations may have other codes for the same condition; the
 * operations prove a code together.
 */
function decide(fact: ServiceFact, observations: readonly Observation[], evidence: Evidence): FileLine[] {
  const common = decideFact(fact, observations, evidence);
  const isCode = fact.kind === "error_code";
  const isOfAll = isByOperation(fact.kind) && !fact.id.includes("/");
  if (!isOfAll || (!isCode && common.every(({ question }) => question === undefined))) return common;
  const each = [...grouped(observations, ({ operation = "" }) => operation)].flatMap(([operation, own]) => {
    if (operation === "" || own.every(({ agrees }) => agrees)) return [];
    return decideFact(fact, own, evidence).map((line) => ({
      ...line,
      id: `${operation}/${line.id}`,
      ...(isCode && { together: countOf(observations.filter(({ seen }) => seen === line.value)) }),
    }));
  });
  return each.every(({ question }) => question !== undefined) ? common : each;
}
