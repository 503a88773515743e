// Decides the value of a contradicted fact from its observations, by the kind of fact.

import type { FactKind, FactValue, Observation, ServiceFact } from "../contracts/fact.ts";
import { grouped } from "../kernel/grouped.ts";
import type { Evidence } from "./compare.ts";
import { MOST_ENTRIES } from "./recording.ts";

/** A fact of a service file, or a question about it. */
export interface FileLine {
  id: string;
  value: FactValue;
  /** Observations of the value. */
  seen: number;
  /** Observations of the value on all operations, which prove it together (default: `seen`). */
  together?: number;
  entries: string[];
  /** Why the recording does not prove it. */
  question?: string;
}

type Decide = (fact: ServiceFact, observations: readonly Observation[], evidence: Evidence) => FileLine[];

export const decideFact: Decide = (fact, observations, evidence) =>
  (deciders[fact.kind] ?? oneValue)(fact, observations, evidence);

function fileLine(
  fact: ServiceFact,
  value: FactValue,
  observations: readonly Observation[],
  question?: string,
): FileLine {
  const entries = [...new Set(observations.flatMap((one) => one.entries))].slice(0, MOST_ENTRIES);
  return { id: fact.id, value, seen: countOf(observations), entries, ...(question !== undefined && { question }) };
}

export const countOf = (observations: readonly Observation[]) =>
  observations.reduce((sum, { count }) => sum + count, 0);

/** The value, if all observations agree on it; otherwise one question per value. */
const oneValue: Decide = (fact, observations) => {
  const values = valuesOf(observations);
  const [most] = values;
  if (!most) return [];
  if (values.length === 1) return [fileLine(fact, most.value, most.observations)];
  const question = `seen beside ${values.length - 1} other ${values.length === 2 ? "value" : "values"}`;
  const others = values.filter(({ observations: [first] }) => !first?.agrees);
  return others.map(({ value, observations: some }) => fileLine(fact, value, some, question));
};

const valuesOf = (observations: readonly Observation[]): { value: FactValue; observations: Observation[] }[] =>
  [...grouped(observations, ({ seen }) => JSON.stringify(seen)).values()]
    .map((group) => ({ value: (group[0] as Observation).seen, observations: group }))
    .toSorted((one, other) => countOf(other.observations) - countOf(one.observations));

const deciders: Partial<Record<FactKind, Decide>> = {
  field: presence,
  body_field: (fact, observations, evidence) =>
    oneValue(fact, observations, evidence).map((one) => ({
      ...one,
      question: "accepted bodies may have it under another name",
    })),
  type: types,
  format: form,
  maximum: bound,
  minimum: bound,
  replay_window: window,
  values: closedSet,
  order: (fact, observations, evidence) =>
    oneValue(fact, observations, evidence).map((one) =>
      one.value === "another order" ? { ...one, question: "the order is not one of `created`" } : one,
    ),
  other_fields: (fact, observations, evidence) => (fact.value === "none" ? [] : oneValue(fact, observations, evidence)),
  other_parameters: otherParameters,
  header: named,
  delivery_header: named,
  accepted: refusedBodies,
};

/** Records that must lack a field before the service counts as without it. */
const FEWEST_RECORDS = 3;

/** `sometimes` if some objects lack the field, `absent` if all do. */
function presence(fact: ServiceFact, observations: readonly Observation[]): FileLine[] {
  const missing = observations.filter(({ seen }) => seen === "absent");
  const isNever = missing.length === observations.length;
  const isRare = isNever && countOf(missing) < FEWEST_RECORDS;
  if (isRare) return [fileLine(fact, "absent", missing, `seen in fewer than ${FEWEST_RECORDS} records`)];
  return [
    fileLine(fact, isNever ? "absent" : missing.length > 0 ? "sometimes" : "always", isNever ? missing : observations),
  ];
}

/** A service file can set one type, with or without null. */
function types(fact: ServiceFact, observations: readonly Observation[]): FileLine[] {
  const own = fact.value as readonly string[];
  const seen = [...new Set(observations.map((one) => String(one.seen)))];
  const others = seen.filter((type) => type !== "null");
  const kept = others.length === 0 ? own : others;
  const isNullable = seen.includes("null") || own.includes("null");
  const value = [...kept.filter((type) => type !== "null"), ...(isNullable ? ["null"] : [])];
  const isNumber = others.every((type) => type === "integer" || type === "number");
  const all = isNumber && others.length > 1 ? ["number", ...(isNullable ? ["null"] : [])] : value;
  return [
    fileLine(
      fact,
      all,
      observations,
      others.length > 1 && !isNumber ? "the field has values of several types" : undefined,
    ),
  ];
}

/** If some values of the field have decimals, an integer such as 25 counts as a decimal number too. */
function form(fact: ServiceFact, observations: readonly Observation[], evidence: Evidence): FileLine[] {
  const decimals = observations.filter(({ seen }) => seen === "decimal number");
  const isDecimal =
    decimals.length > 0 && observations.every(({ seen, agrees }) => agrees || seen === "decimal number");
  if (isDecimal) return [fileLine(fact, "decimal number", decimals)];
  return oneValue(fact, observations, evidence).map((one) =>
    String(one.value).startsWith("another form")
      ? { ...one, question: "the form is none that the sandbox knows" }
      : one,
  );
}

/** A bound of `limit` is known if a limit is accepted and the next one is not, or if the service moves limits to it. */
function bound(fact: ServiceFact, observations: readonly Observation[], evidence: Evidence): FileLine[] {
  const others = observations.filter(({ agrees }) => !agrees);
  const exact = others.filter((one) => one.bound === undefined);
  if (exact.length > 0) return oneValue(fact, exact, evidence);
  const [least, below] = [leastOf(fact, others, evidence), belowOf(others)];
  if (below !== undefined && least === below - 1) return [fileLine(fact, least, others)];
  return others.slice(0, 1).map((one) => fileLine(fact, one.seen, others, `only known as ${words(least, below, one)}`));
}

const words = (least: number | undefined, below: number | undefined, { bound: kind, seen }: Observation) =>
  kind === "at_most"
    ? `at most ${seen}`
    : [
        ...(least === undefined ? [] : [`at least ${least}`]),
        ...(below === undefined ? [] : [`less than ${below}`]),
      ].join(" and ");

const numbersOf = (observations: readonly Observation[], kind: Observation["bound"]) =>
  observations.filter((one) => one.bound === kind).map(({ seen }) => Number(seen));

function leastOf({ id }: ServiceFact, observations: readonly Observation[], { hints }: Evidence): number | undefined {
  const hinted = hints.filter((hint) => hint.fact === id && hint.bound === "at_least").map(({ value }) => value);
  return [...hinted, ...numbersOf(observations, "at_least")].toSorted((one, other) => other - one)[0];
}

const belowOf = (observations: readonly Observation[]) =>
  numbersOf(observations, "below").toSorted((one, other) => one - other)[0];

const [MINUTE, HOUR, DAY] = [60, 3_600, 86_400];
/** Common window lengths in seconds. */
const USUAL_WINDOWS = [
  MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  3 * DAY,
  7 * DAY,
  30 * DAY,
];

/** The only usual length between the longest wait with a replay and the shortest wait without one. */
function window(fact: ServiceFact, observations: readonly Observation[], evidence: Evidence): FileLine[] {
  const others = observations.filter(({ agrees }) => !agrees);
  // A service without replays has no window.
  if (evidence.observations.some((one) => one.fact.endsWith("idempotency.replay") && one.seen === "a second effect"))
    return [];
  const least = leastOf(fact, others, evidence);
  const below = belowOf(others) ?? (observations.some(({ agrees }) => agrees) ? Number(fact.value) : undefined);
  const usual = USUAL_WINDOWS.filter((length) => length >= (least ?? 0) && length <= (below ?? 0));
  if (usual.length === 1) return [fileLine(fact, usual[0] as number, others)];
  return others.slice(0, 1).map((one) => fileLine(fact, one.seen, others, `only known as ${words(least, below, one)}`));
}

/**
 * One unlisted value and one unseen listed value count as a rename. Otherwise the unlisted values are added to the
 * list.
 */
function closedSet(
  fact: ServiceFact,
  observations: readonly Observation[],
  { observations: all }: Evidence,
): FileLine[] {
  const listed = fact.value as readonly string[];
  const others = observations.filter(({ agrees }) => !agrees);
  const renamed = new Set(
    all.filter((one) => !one.agrees && one.fact.startsWith(`${fact.id}.`)).map(({ seen }) => seen),
  );
  const unlisted = [...new Set(others.map(({ seen }) => String(seen)))].filter((value) => !renamed.has(value));
  if (unlisted.length === 0) return [];
  const shown = new Set(observations.filter(({ agrees }) => agrees).map(({ seen }) => seen));
  const unseen = listed.filter((value) => !shown.has(value));
  const [from, to] = [unseen[0], unlisted[0] as string];
  const some = others.filter(({ seen }) => unlisted.includes(String(seen)));
  if (unseen.length === 1 && unlisted.length === 1 && from !== undefined && listed.length > 1)
    return [{ ...fileLine(fact, to, some), id: `${fact.id}.${from}` }];
  const isCode = unlisted.every((value) => !value.startsWith("a text of "));
  return [fileLine(fact, [...listed, ...unlisted], some, isCode ? undefined : "the values are no codes")];
}

/**
 * Renames cursors, which are recognised by their values. Other parameters become questions, because the sandbox does
 * not have them.
 */
function otherParameters(fact: ServiceFact, observations: readonly Observation[], evidence: Evidence): FileLine[] {
  const { renames } = evidence;
  const place = fact.id.slice(0, -"other_parameters".length);
  const names = new Set(renames.filter((rename) => rename.fact.startsWith(place)).map(({ name }) => name));
  const others = observations.filter(({ seen, agrees }) => !agrees && !names.has(String(seen)));
  const cursors = [...new Set(renames.filter((rename) => rename.fact.startsWith(place)).map((rename) => rename.fact))];
  return [
    ...cursors.flatMap((id) => named({ ...fact, id }, [], evidence)),
    ...valuesOf(others).map(({ value, observations: some }) =>
      fileLine(fact, value, some, "the sandbox does not have the parameter"),
    ),
  ];
}

/** The header's other name in the recording, or `absent`. */
function named(fact: ServiceFact, observations: readonly Observation[], evidence: Evidence): FileLine[] {
  const own = evidence.renames.filter((rename) => rename.fact === fact.id);
  const names = [...new Set(own.map(({ name }) => name))];
  const missing = observations.filter(({ agrees }) => !agrees);
  if (names.length === 0) return oneValue(fact, missing, evidence);
  const entries = [...new Set(own.map(({ entry }) => entry))].slice(0, MOST_ENTRIES);
  const question = names.length > 1 ? `several names: ${names.join(", ")}` : undefined;
  return [
    {
      id: `${fact.id}.name`,
      value: names[0] as string,
      seen: own.length,
      entries,
      ...(question !== undefined && { question }),
    },
  ];
}

const REQUIRED = / is required$/;

/** A newly required field becomes a fact of its own. Other reasons for a rejection become questions. */
function refusedBodies(fact: ServiceFact, observations: readonly Observation[]): FileLine[] {
  const others = observations.filter(({ agrees }) => !agrees);
  const place = fact.id.slice(0, -".accepted".length);
  return valuesOf(others).map(({ value, observations: some }) => {
    const text = String(value);
    if (!REQUIRED.test(text))
      return fileLine(fact, text, some, "the service has a rule that the recording does not explain");
    return { ...fileLine(fact, true, some), id: `${place}.${text.replace(REQUIRED, "")}.required` };
  });
}
