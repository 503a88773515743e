// The types of events in the names of the real service: in events, in subscriptions and in the delivery log.

import type { ObjectSchema } from "../contracts/endpoint.ts";
import { annotate } from "../schema/assumed.ts";
import type { TSchema } from "../schema/shapes.ts";
import type { Operation } from "../store/operation-context.ts";
import type { AdoptedFacts } from "./adopted-facts.ts";

const TYPE_FACT = /^event\.type\.values\.(.+)$/;

export interface EventTypes {
  /** The name that the service has for a type of the sandbox. */
  shown(type: string): string;
  /** The sandbox's type for a name of the service. A name that the service no longer has becomes one that the sandbox does not send. */
  own(name: string): string;
  /** The renamed types, in the names of the service. */
  readonly names: readonly string[];
}

/** Undefined if the file renames no type. */
export function adoptedEventTypes(facts: AdoptedFacts): EventTypes | undefined {
  const names = new Map<string, string>();
  for (const [id, value] of facts.values) {
    const type = TYPE_FACT.exec(id)?.[1];
    if (type !== undefined && typeof value === "string" && value !== type) names.set(type, value);
  }
  if (names.size === 0) return undefined;
  const types = new Map([...names].map(([type, name]) => [name, type]));
  // Each name has one counterpart in both directions, so that a subscription is shown as it was sent.
  for (const type of names.keys()) if (!types.has(type)) types.set(type, endOf(names, type));
  const shown = new Map([...types].map(([name, type]) => [type, name]));
  return { shown: (type) => shown.get(type) ?? type, own: (name) => types.get(name) ?? name, names: [...names.values()] };
}

function endOf(names: ReadonlyMap<string, string>, type: string): string {
  const next = names.get(type);
  return next === undefined ? type : endOf(names, next);
}

/** Where operations show and take types of events. */
const PLACES: Readonly<Record<string, { body?: string; query?: string; reply?: string }>> = {
  "webhooks.create": { body: "events", reply: "events" },
  "webhooks.list": { reply: "events" },
  "deliveries.list": { query: "type", reply: "eventType" },
  "events.test": { body: "type", reply: "type" },
};

type Fields = Record<string, unknown>;

const each = (value: unknown, rename: (name: string) => string): unknown =>
  Array.isArray(value) ? value.map((one) => each(one, rename)) : typeof value === "string" ? rename(value) : value;

const withRenamed = (fields: Fields, field: string | undefined, rename: (name: string) => string): Fields =>
  field === undefined || fields[field] === undefined ? fields : { ...fields, [field]: each(fields[field], rename) };

export const typesInBody = ({ id }: Operation, { own }: EventTypes, body: Fields): Fields => withRenamed(body, PLACES[id]?.body, own);

export const typesInQuery = ({ id }: Operation, { own }: EventTypes, query: Fields): Fields => withRenamed(query, PLACES[id]?.query, own);

/** A success, or its records if it is a list. */
export function typesInReply({ id }: Operation, { shown }: EventTypes, reply: Fields): Fields {
  const field = PLACES[id]?.reply;
  if (field === undefined) return reply;
  const { data } = reply;
  const one = (record: unknown) => withRenamed(record as Fields, field, shown);
  return id.endsWith(".list") && Array.isArray(data) ? { ...reply, data: data.map(one) } : one(reply);
}

export const showsTypes = ({ id }: Operation) => PLACES[id]?.reply !== undefined;

/** The body's schema, which also takes names of another form than the sandbox's. */
export function withNames({ id, body }: Operation, { names }: EventTypes): ObjectSchema | undefined {
  const field = PLACES[id]?.body;
  if (body === undefined || field === undefined) return body;
  const schema = body.properties[field] as TSchema & { items?: TSchema; pattern?: string };
  const alternatives = names.map((name) => name.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&")).join("|");
  const widened = (one: TSchema & { pattern?: string }) => annotate(one, { pattern: `${one.pattern}|^(${alternatives})$` });
  const property = schema.items === undefined ? widened(schema) : annotate(schema, { items: widened(schema.items) });
  return { ...body, properties: { ...body.properties, [field]: property } } as ObjectSchema;
}
