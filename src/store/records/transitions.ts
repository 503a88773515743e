// Paths through the states of a kind of record.

import type { Resource, Transitions } from "../../contracts/resource.ts";

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
  throw new Error(`no transition leads to ${status}`);
};

/** The statuses from which a record may move to `state`. */
export function statesBefore(transitions: Transitions, state: string): string[] {
  return Object.keys(transitions).filter((from) => transitions[from]?.includes(state));
}

/**
 * The fields of a new record, with times that fit its state. The creation time and the times of earlier states are at
 * most the given time of a later state. `now` is in Unix seconds.
 */
export function withEarlierTimes(
  { transitions, arrivalTimes, defaults }: Pick<Resource, "transitions" | "arrivalTimes" | "defaults">,
  fields: Fields,
  now: number,
): Fields {
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

/** These states and all states that may follow them. */
export function statesFrom(transitions: Transitions, states: readonly string[]): Set<string> {
  const reached = new Set(states);
  for (const state of reached) for (const next of transitions[state] ?? []) reached.add(next);
  return reached;
}
