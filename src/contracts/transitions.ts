// The states of a kind of record and the transitions between them, and the rules that follow from them: a time that a
// state sets on arrival is set exactly if the record went through the state, and times are in order.

import { sentIn } from "../schema/as-sent.ts";

/** The statuses that may follow each status. */
export type Transitions = Readonly<Record<string, readonly string[]>>;

/** The shortest path of states from the initial state to `status`, both included. */
export const pathTo = (
  { transitions, defaults }: { transitions: Transitions; defaults: { status?: string | undefined } },
  status: string,
): string[] => {
  const ways = [[defaults.status as string]];
  for (const way of ways) {
    const last = way.at(-1) as string;
    if (last === status) return way;
    for (const next of transitions[last] ?? [])
      if (!ways.some((known) => known.includes(next))) ways.push([...way, next]);
  }
  throw new Error(`no way leads to ${status}`);
};

/** The statuses from which a record may move to `state`. */
export function statesBefore(transitions: Transitions, state: string): string[] {
  return Object.keys(transitions).filter((from) => transitions[from]?.includes(state));
}

/** The transitions as a sentence of the reference. */
export function describeTransitions(transitions: Transitions): string {
  const lines = Object.entries(transitions).map(([from, to]) =>
    to.length > 0 ? `\`${from}\` → ${to.map((state) => `\`${state}\``).join(", ")}` : `\`${from}\` is final`,
  );
  return lines.join("; ");
}

/** The states that set each time. */
export type ArrivalTimes = ReadonlyMap<string, readonly string[]>;

interface TimedKind {
  kind: string;
  transitions: Transitions;
  arrivalTimes: ArrivalTimes;
}

export function arrivalTimesOf(states: Readonly<Record<string, { at?: string | readonly string[] }>>): ArrivalTimes {
  const times = new Map<string, string[]>();
  for (const [status, { at = [] }] of Object.entries(states))
    for (const field of [at].flat()) times.set(field, [...(times.get(field) ?? []), status]);
  return times;
}

interface Stateful {
  status?: string | undefined;
}

const valueIn = (record: Stateful, field: string) => (record as Readonly<Record<string, unknown>>)[field];

/**
 * One rule per time: it is set exactly if the record has reached a state that sets it, since the record was last in its
 * first state.
 */
export function timeRules({ kind, transitions, arrivalTimes }: TimedKind) {
  const [first] = Object.keys(transitions);
  const name = kind.replaceAll("_", " ");
  return [...arrivalTimes].map(([field, setters]) => {
    const known = statesFrom(transitions, setters);
    const states = setters.join(" or ");
    return (record: Stateful, { before }: { before: Stateful | undefined }) => {
      const { status = "" } = record;
      const value = valueIn(record, field);
      const isSet = value != null;
      const wasSet = before !== undefined && valueIn(before, field) != null;
      const isKnown = setters.includes(status) || (wasSet && status !== first && known.has(status));
      // With open bodies, the client may have sent any value for the field, which is stored unchanged.
      if (isSet === isKnown || Object.hasOwn(sentIn(record) ?? {}, field)) return undefined;
      const message = isKnown
        ? `${field} must not be null: the ${name} became ${setters.includes(status) ? status : states}.`
        : `${field} must be null: the ${name} never became ${states}; received ${value}.`;
      return { field, code: "out_of_order", message };
    };
  });
}

/**
 * The fields of a new record in its state. Where the time of a state is given, the states before it were reached by
 * then, and the record was created by then; `now` is in Unix seconds.
 */
export function withEarlierTimes(
  kind: Omit<TimedKind, "kind"> & { defaults: { status?: string | undefined } },
  fields: Fields,
  now: number,
): Fields {
  const { transitions, arrivalTimes, defaults } = kind;
  const status = (fields.status as string | null | undefined) ?? defaults.status;
  if (status === undefined) return fields;
  const times: Fields = {};
  let latest = now;
  for (const state of pathTo({ transitions, defaults }, status).reverse()) {
    const reached = [...arrivalTimes.keys()].filter((field) => arrivalTimes.get(field)?.includes(state));
    latest = Math.min(latest, ...reached.map((field) => fields[field]).filter((time) => typeof time === "number"));
    for (const field of reached) times[field] = latest;
  }
  return latest < now ? { created: latest, ...times, ...fields } : fields;
}

type Fields = Record<string, unknown>;

/** One rule per time: it is not before the times of earlier states, nor before the record was created. */
export function orderRules({ transitions, arrivalTimes }: Omit<TimedKind, "kind">) {
  const [first = ""] = Object.keys(transitions);
  return [...arrivalTimes].map(([field, setters]) => {
    const leadHere = ([other, states]: [string, readonly string[]]) =>
      other !== field &&
      states.some(
        (state) => !setters.includes(state) && setters.some((setter) => statesFrom(transitions, [state]).has(setter)),
      );
    const earlier = [...arrivalTimes]
      .filter(leadHere)
      .map(([other]) => other)
      .reverse();
    const fields = setters.includes(first) ? earlier : [...earlier, "created"];
    return (record: Stateful) => {
      const value = valueIn(record, field) as number | null | undefined;
      const before = value == null ? undefined : fields.find((other) => value < (valueIn(record, other) as number));
      if (before === undefined) return undefined;
      const message = `${field} must not come before ${before}; received ${value} and ${valueIn(record, before)}.`;
      return { field, code: "out_of_order", message };
    };
  });
}

/** These states and all states that may follow them. */
function statesFrom(transitions: Transitions, states: readonly string[]): Set<string> {
  const reached = new Set(states);
  for (const state of reached) for (const next of transitions[state] ?? []) reached.add(next);
  return reached;
}
