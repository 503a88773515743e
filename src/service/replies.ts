// Replies and events in the shape of the real service: lists and objects in their envelopes, errors, records.

import { errorObject } from "../contracts/error-object.ts";
import { envelope } from "../contracts/event-envelope.ts";
import { once } from "../kernel/once.ts";
import type { TSchema } from "../schema/shapes.ts";
import { fieldsOf } from "../schema/walk.ts";
import type { Operation } from "../store/operation-context.ts";
import type { AdoptedFacts } from "./adopted-facts.ts";
import { createInvalidFields } from "./invalid-fields.ts";
import type { Prefixes } from "./object-changes.ts";
import { createTranslator, type Translate } from "./records.ts";

type JsonFields = Readonly<Record<string, unknown>>;

export interface Shapes {
  /** The text of a success. */
  success(operation: Operation | undefined, text: string): string;
  error(error: object): unknown;
  /** The JSON of an event; `data` holds a record, whose `object` names its kind. */
  event(event: JsonFields): JsonFields;
}

/** `records` are the schemas by kind of record. */
export function createShapes(facts: AdoptedFacts, prefixes: Prefixes, records: ReadonlyMap<string, TSchema>): Shapes {
  const translator = createTranslator(facts, prefixes);
  const outwards = (place: string, schema: TSchema | undefined) => schema && translator.object("outwards", place, schema);
  const ofKind = memoised((kind: string) => outwards(kind, records.get(kind)));
  const ofReply = memoised((operation: Operation) =>
    replyTranslation(operation, facts, outwards(`${operation.id}.reply`, operation.reply)),
  );
  const ofError = once(() => outwards("error", errorObject));
  const moveInvalidFields = createInvalidFields(facts);
  const ofEvent = once(() => outwards("event", envelope));
  return {
    success(operation, text) {
      const translate = operation && ofReply(operation);
      return translate === undefined || text === "" ? text : JSON.stringify(translate(JSON.parse(text), {}));
    },
    error(error) {
      const named = prefixes.size === 0 ? error : withPrefixes(error, prefixes);
      const shaped = (ofError()?.(named, {}) ?? named) as object;
      return enveloped(facts.text("error.envelope"), moveInvalidFields ? moveInvalidFields(named, shaped) : shaped);
    },
    event(event) {
      const { data } = event;
      const ofData = ofKind(String((data as JsonFields | null)?.object));
      const whole = ofData ? { ...event, data: ofData(data, event) } : event;
      return (ofEvent()?.(whole, {}) ?? whole) as JsonFields;
    },
  };
}

/** Most runs need few of the operations and kinds. */
function memoised<Key>(make: (key: Key) => Translate | undefined): (key: Key) => Translate | undefined {
  const made = new Map<Key, Translate | undefined>();
  return (key) => {
    if (!made.has(key)) made.set(key, make(key));
    return made.get(key);
  };
}

function replyTranslation({ id, reply }: Operation, facts: AdoptedFacts, translate: Translate | undefined): Translate | undefined {
  const name = facts.text(`${id}.reply.envelope`);
  const isList = fieldsOf(reply).some(([field]) => field === "data");
  const isPlain = name === undefined || name === (isList ? "data" : "none");
  if (isPlain) return translate;
  const wrap = isList ? (value: unknown) => listIn(name, value as JsonFields) : (value: unknown) => enveloped(name, value);
  return (value, record) => wrap(translate === undefined ? value : translate(value, record));
}

const listIn = (name: string, list: JsonFields): unknown => {
  if (name === "the response itself") return list.data;
  return Object.fromEntries(Object.entries(list).map(([field, value]) => [field === "data" ? name : field, value]));
};

/** A value in a field of its own, or in a list there: `error`, `errors[]`. */
function enveloped(name: string | undefined, value: unknown): unknown {
  if (name === undefined || name === "none") return value;
  return name.endsWith("[]") ? { [name.slice(0, -2)]: [value] } : { [name]: value };
}

/** Messages and details of errors quote ids. */
function withPrefixes(error: object, prefixes: Prefixes): object {
  const { message, details } = error as { message?: unknown; details?: unknown };
  const others = new Map([...prefixes].flatMap(([own, prefix]) => [[own, prefix] as const, [prefix, own] as const]));
  const quoted = new RegExp(`\\b(${[...others.keys()].join("|")})(?=[A-Za-z0-9])`, "g");
  const exchanged = JSON.stringify({ message, details }).replace(quoted, (prefix) => others.get(prefix) ?? prefix);
  return { ...error, ...(JSON.parse(exchanged) as object) };
}
