// Explains why a filtered list is empty: a value names nothing, such as a mistyped event type, or no row matches.

import { didYouMean } from "../kernel/did-you-mean.ts";
import { SandboxError } from "../kernel/errors.ts";
import { count } from "../kernel/text.ts";
import type { RunningSandbox } from "./remote/running-sandbox.ts";

type Control = RunningSandbox["control"];

export type ListGroup = "requests" | "events" | "deliveries" | "verdicts" | "endpoints";

export interface GivenFilter {
  /** The filter's query parameter, or its flag if it has no parameter. */
  name: string;
  /** The filter as typed, such as `--status 500`. */
  text: string;
  value: string;
}

/** The checks by filter. Each returns a sentence about a value that does not exist; undefined if the value exists. */
const CHECKS: Readonly<Record<string, (control: Control, name: string) => Promise<string | undefined>>> = {
  type: async (control, type) => {
    const types = (await control.operations()).events.map((event) => event.type);
    if (types.includes(type)) return undefined;
    return `The service never sends ${type}.${didYouMean(type, types)} Only a test event can have this type.`;
  },
  endpointId: async (control, id) => {
    const ids = (await control.endpoints.list()).data.map((endpoint) => endpoint.id);
    return ids.includes(id) ? undefined : `There is no endpoint ${id}.${didYouMean(id, ids)}`;
  },
  eventId: (control, id) => notFound(() => control.events.get({ id })),
  requestId: (control, id) => notFound(() => control.requests.get({ id })),
};

/** The message of a call that does not find its record; undefined if the call finds it. */
async function notFound(call: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    if (error instanceof SandboxError && error.code === "resource_not_found") return error.message;
    throw error;
  }
}

/** One sentence for each filter whose value names nothing. The sandbox itself refuses unknown operations and rules. */
export async function unknownNames(control: Control, filters: readonly GivenFilter[]): Promise<string[]> {
  const found = await Promise.all(filters.map(({ name, value }) => CHECKS[name]?.(control, value)));
  return found.filter((sentence) => sentence !== undefined);
}

/** Explains why no row matches; undefined if the list is also empty without the filters. */
export async function whyNoneMatch(
  control: Control,
  group: ListGroup,
  filters: readonly GivenFilter[],
): Promise<string | undefined> {
  const unknown = await unknownNames(control, filters);
  const all = await rowsOf(control, group);
  const these = filters.length === 1 ? "this filter" : "these filters";
  const without = `Without ${these} there ${all === "1" ? "is" : "are"} ${all}.`;
  if (unknown.length > 0) return [...unknown, ...(all === "0" ? [] : [without])].join(" ");
  if (all === "0") return undefined;
  return `No ${group} match ${filters.map(({ text }) => text).join(" ")}. ${without}`;
}

/** The longest page of a list. */
export const MOST_ROWS = 100;

/** How many rows the list has without filters. */
async function rowsOf(control: Control, group: ListGroup): Promise<string> {
  if (group === "events") {
    const { data, has_more: hasMore } = await control.events.list({ limit: MOST_ROWS });
    return hasMore ? `more than ${count(MOST_ROWS)}` : count(data.length);
  }
  if (group === "requests" || group === "deliveries") {
    const { kept } = await control.overview();
    return count(group === "requests" ? kept.requests : kept.attempts);
  }
  return count((await control[group].list()).data.length);
}
