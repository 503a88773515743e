// Derives rules from the states of a kind. A state can have a time field, which is set when a record enters the state.
// The field must be set if and only if the record has entered the state, and all such times must be in order.

import type { ArrivalTimes, Transitions } from "../../contracts/resource.ts";
import { sentIn } from "../../schema/as-sent.ts";
import { statesFrom } from "../../store/records/transitions.ts";

/** Describes the transitions in a sentence, for the reference. */
export function describeTransitions(transitions: Transitions): string {
  const lines = Object.entries(transitions).map(([from, to]) =>
    to.length > 0 ? `\`${from}\` → ${to.map((state) => `\`${state}\``).join(", ")}` : `\`${from}\` is final`,
  );
  return lines.join("; ");
}

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
 * Returns a rule for each time field. The field must be set if and only if the record has entered the field's state
 * since it last was in the initial state.
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
 * Returns a rule for each time field. The time must not be before the record's creation, nor before the time of an
 * earlier state.
 */
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
