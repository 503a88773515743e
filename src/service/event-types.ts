// The types of events in the names of the real service: in events, in subscriptions and in the delivery log.

import type { AdoptedFacts } from "./service-file.ts";

const TYPE_FACT = /^event\.type\.values\.(.+)$/;

type Fields = Record<string, unknown>;

export type EventTypes = NonNullable<ReturnType<typeof adoptedEventTypes>>;

/** Where operations show and take types of events. */
const PLACES: Readonly<Record<string, { body?: string; query?: string; reply?: string }>> = {
  "webhooks.create": { body: "events", reply: "events" },
  "webhooks.list": { reply: "events" },
  "deliveries.list": { query: "type", reply: "eventType" },
  "events.test": { body: "type", reply: "type" },
};

export const showsTypes = (operation: string) => PLACES[operation]?.reply !== undefined;

/** Renames event types between the sandbox's names and the service's; undefined if the file renames no type. */
export function adoptedEventTypes(facts: AdoptedFacts) {
  const names = new Map<string, string>();
  for (const [id, value] of facts.values) {
    const type = TYPE_FACT.exec(id)?.[1];
    if (type !== undefined && typeof value === "string" && value !== type) names.set(type, value);
  }
  if (names.size === 0) return undefined;
  const types = new Map([...names].map(([type, name]) => [name, type]));
  // Each name has one counterpart in both directions, so that a subscription is shown as it was sent. If the service
  // gives a name of the sandbox to another type, that name stands for a type that the sandbox never sends.
  for (const type of names.keys()) if (!types.has(type)) types.set(type, endOf(names, type));
  const reverse = new Map([...types].map(([name, type]) => [type, name]));
  const shown = (type: string) => reverse.get(type) ?? type;
  const own = (name: string) => types.get(name) ?? name;
  return {
    /** The name that the service has for a type of the sandbox. */
    shown,
    inBody: (operation: string, body: Fields): Fields => withRenamed(body, PLACES[operation]?.body, own),
    inQuery: (operation: string, parameter: string, value: string): string =>
      PLACES[operation]?.query === parameter ? own(value) : value,
    /** Translates a successful reply, or each record of a list. */
    inReply(operation: string, reply: Fields): Fields {
      const one = (record: unknown) => withRenamed(record as Fields, PLACES[operation]?.reply, shown);
      return operation.endsWith(".list") && Array.isArray(reply.data)
        ? { ...reply, data: reply.data.map(one) }
        : one(reply);
    },
  };
}

function endOf(names: ReadonlyMap<string, string>, type: string): string {
  const next = names.get(type);
  return next === undefined ? type : endOf(names, next);
}

const each = (value: unknown, rename: (name: string) => string): unknown =>
  Array.isArray(value) ? value.map((one) => each(one, rename)) : typeof value === "string" ? rename(value) : value;

const withRenamed = (fields: Fields, field: string | undefined, rename: (name: string) => string): Fields =>
  field === undefined || fields[field] === undefined ? fields : { ...fields, [field]: each(fields[field], rename) };
