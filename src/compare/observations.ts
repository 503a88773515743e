// Collects the evidence in a recording: observations of facts, renamed fields, unknown fields, and ids, tokens and
// secrets.

import {
  type FactBound,
  type FactValue,
  type Lenient,
  type Observation,
  otherName,
  type ServiceFact,
} from "../contracts/fact.ts";
import { formOfAny } from "../contracts/value-formats.ts";
import { memoize } from "../kernel/bounded-cache.ts";
import type { TSchema } from "../schema/shapes.ts";
import { fieldPlace, fieldsOf, type Inner, innerOf, isRequired, valuesOf } from "../schema/walk.ts";
import { type ComparedSandbox, isObject, MOST_ENTRIES, type RecordedCall, succeeded } from "./recording.ts";
import { isMasked, type ShownTexts } from "./shown-texts.ts";

interface ObservedIn {
  entry: string;
  operation?: string | undefined;
  lenient?: Lenient | undefined;
  bound?: FactBound | undefined;
}

export type ObservationLog = ReturnType<typeof createObservationLog>;

export function createObservationLog(sandbox: ComparedSandbox, shown: ShownTexts) {
  const facts = new Map(sandbox.facts.map((fact): [string, ServiceFact] => [fact.id, { ...fact }]));
  /** The facts that an operation overrides. */
  const varied = new Set(sandbox.facts.flatMap(({ id }) => (id.includes("/") ? [id.slice(id.indexOf("/") + 1)] : [])));
  const observations: Observation[] = [];
  /** Numbers that limit the value of a fact without confirming or contradicting it. */
  const hints: { fact: string; bound: FactBound; value: number }[] = [];
  const unknownFields = createUnknownFields(shown);
  /** Other names of fields, parameters and headers, each in one entry. */
  const renames: { fact: string; name: string; entry: string }[] = [];
  /** The service's name of a field, parameter or header. */
  const nameOf = (id: string, name: string): string => otherName(facts.get(`${id}.name`)?.value) ?? name;
  return {
    shown,
    observations,
    hints,
    unknownFields,
    renames,
    /** The habits in which the service differs everywhere, such as snake_case. */
    shapes: createShapes(),
    /** Records that the fact's field or header has another name in this entry, recognised by its value. */
    rename: (fact: string, name: string, entry: string): unknown =>
      facts.has(fact) && renames.push({ fact, name, entry }),
    /** The operation's own fact, or else the general one. */
    fact: (id: string, operation?: string): ServiceFact | undefined =>
      (operation !== undefined && varied.has(id) ? facts.get(`${operation}/${id}`) : undefined) ?? facts.get(id),
    nameOf,
    object: memoize(MOST_OBJECTS, (name: string, schema: TSchema) => objectFacts(name, schema, facts, nameOf)),
    listed: (id: string, values: readonly string[]) => listedFacts(id, values, facts),
    /** Records an observation. Ignores facts that the sandbox does not have. */
    record(about: string | ServiceFact | undefined, seen: FactValue, agrees: boolean, where: ObservedIn): void {
      const fact = typeof about === "string" ? this.fact(about, where.operation) : about;
      if (fact) observe(observations, fact, seen, agrees, where);
    },
    /** Records an observation that agrees if it equals the fact's value. */
    compare(about: string | ServiceFact | undefined, seen: FactValue, where: ObservedIn): void {
      const fact = typeof about === "string" ? this.fact(about, where.operation) : about;
      if (fact) observe(observations, fact, seen, fact.value === seen, where);
    },
  };
}

/** A bound for recordings of any size; the sandbox itself has fewer objects. */
const MOST_OBJECTS = 10_000;

/**
 * Facts are looked up once per object, because building an id for each value of a recording takes longer than comparing
 * the value.
 */
function objectFacts(
  name: string,
  schema: TSchema,
  facts: ReadonlyMap<string, ServiceFact>,
  nameOf: (id: string, name: string) => string,
) {
  const fields = fieldsOf(schema).map(([own, inner]) => {
    const id = fieldPlace(name, own);
    return {
      own,
      named: nameOf(id, own),
      isRequired: isRequired(schema, own),
      presence: facts.get(id),
      required: facts.get(`${id}.required`),
      value: valueFacts(id, inner, facts),
    };
  });
  return { fields, names: new Set(fields.map(({ named }) => named)), others: facts.get(`${name}.other_fields`) };
}

export interface ValueFacts {
  inner: Inner;
  type: ServiceFact | undefined;
  prefix: ServiceFact | undefined;
  format: ServiceFact | undefined;
  listed: ListedFacts | undefined;
  /** The facts about the items of a list that have no fields. */
  items: ValueFacts | undefined;
}

function valueFacts(id: string, schema: TSchema, facts: ReadonlyMap<string, ServiceFact>): ValueFacts {
  const inner = innerOf(id, schema);
  const [type, prefix, format] = ["type", "prefix", "format"].map((part) => facts.get(`${id}.${part}`));
  const items = inner.isList && !inner.isObject ? valueFacts(inner.id, inner.schema, facts) : undefined;
  const values = valuesOf(inner.schema);
  return { inner, type, prefix, format, listed: values && listedFacts(inner.id, values, facts), items };
}

export type ListedFacts = ReturnType<typeof listedFacts>;

/** The fact about a list of values, and those about each of them, by the value that the service has. */
function listedFacts(id: string, values: readonly string[], facts: ReadonlyMap<string, ServiceFact>) {
  const all = facts.get(`${id}.values`);
  const each = values.flatMap((value) => facts.get(`${id}.values.${value}`) ?? []);
  return { all, each: new Map(each.toReversed().map((fact) => [String(fact.value), fact])) };
}

/**
 * A fact with its observations: the last one, because values repeat, and all by value, so that the time does not grow
 * with their number.
 */
interface ObservedFact extends ServiceFact {
  last?: Observation | undefined;
  byValue?: Map<FactValue, Observation[]>;
}

/** Stores each distinct observation once, with its count, because long recordings repeat the same few values. */
function observe(
  observations: Observation[],
  fact: ObservedFact,
  seen: FactValue,
  agrees: boolean,
  where: ObservedIn,
): void {
  const { entry, operation, bound } = where;
  const lenient = agrees ? undefined : where.lenient;
  let same = fact.last;
  if (
    same?.seen !== seen ||
    same.agrees !== agrees ||
    same.operation !== operation ||
    same.bound !== bound ||
    same.lenient !== lenient
  )
    same = fact.byValue
      ?.get(seen)
      ?.find(
        (one) => one.agrees === agrees && one.operation === operation && one.bound === bound && one.lenient === lenient,
      );
  fact.last = same;
  if (same) {
    same.count++;
    if (same.entries.length < MOST_ENTRIES && same.entries.at(-1) !== entry) same.entries.push(entry);
    return;
  }
  const others = {
    ...(operation !== undefined && { operation }),
    ...(bound && { bound }),
    ...(lenient && { lenient }),
  };
  const observation: Observation = { fact: fact.id, seen, agrees, count: 1, entries: [entry], ...others };
  observations.push(observation);
  fact.byValue ??= new Map();
  fact.byValue.set(seen, [...(fact.byValue.get(seen) ?? []), observation]);
}

export type Knowledge = ReturnType<typeof knowledgeOf>;

export function knowledgeOf(calls: readonly RecordedCall[]) {
  const [ids, sentValues, sentFields, secrets] = [
    new Set<string>(),
    new Set<string>(),
    new Set<string>(),
    new Set<string>(),
  ];
  const tokens = new Map<string, number>();
  for (const call of calls) {
    visit(call.body, (name, value) => {
      sentFields.add(name);
      if (typeof value === "string") sentValues.add(value);
    });
    if (!succeeded(call)) continue;
    for (const id of call.ids) ids.add(id);
    const { token, seconds } = tokenIn(call.response);
    if (token !== undefined) tokens.set(token, call.at + seconds * 1_000);
    visit(call.response, (name, value) => {
      if (typeof value !== "string") return;
      if (name === "id") ids.add(value);
      else if (/secret$|key$/i.test(name) && !isMasked(value)) secrets.add(value);
    });
  }
  const showsAuthorization = calls.some(({ headers }) => headers.authorization !== undefined);
  return {
    /** The ids of records in successful calls. */
    ids,
    /** The texts in request bodies, which responses and events may repeat. */
    sentValues,
    sentFields,
    /** The signing secrets in responses. */
    secrets,
    /** The expiry of each token from a login, in Unix milliseconds. */
    tokens,
    /** Whether any call has its Authorization header, which exports may leave out. */
    showsAuthorization,
  };
}

/** The access token in a response and its lifetime, with the names of OAuth or of the sandbox. */
function tokenIn(response: unknown): { token?: string; seconds: number } {
  if (!isObject(response)) return { seconds: 0 };
  const token = response.accessToken ?? response.access_token ?? response.token;
  const seconds = response.expiresIn ?? response.expires_in;
  return typeof token === "string" && typeof seconds === "number" && !isMasked(token)
    ? { token, seconds }
    : { seconds: 0 };
}

const MOST_DEPTH = 40;

function visit(value: unknown, use: (name: string, value: unknown) => void, depth = 0): void {
  if (depth > MOST_DEPTH || typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    use(Array.isArray(value) ? "" : key, inner);
    visit(inner, use, depth + 1);
  }
}

export interface UnknownField {
  /** The title of the object's schema; without a title, the object's place in the recording. */
  object: string;
  field: string;
  count: number;
  types: Set<string>;
  /** The formats of the values; includes undefined if a value has none. */
  forms: Set<string | undefined>;
  prefixes: Set<string>;
  /** The values with their counts. Values that cannot be shown are empty. */
  values: Map<string | number | boolean, number>;
  entries: string[];
}

const MOST_VALUES = 20;

const newField = (object: string, field: string): UnknownField => ({
  ...{ object, field, count: 0, entries: [], values: new Map() },
  ...{ types: new Set(), forms: new Set(), prefixes: new Set() },
});

function createUnknownFields(shown: ShownTexts) {
  const found = new Map<string, UnknownField>();
  const objects = new Map<string, number>();
  return {
    /** The number of objects in the recording, by name. */
    objects,
    all: () => [...found.values()],
    countObject: (object: string) => objects.set(object, (objects.get(object) ?? 0) + 1),
    add(object: string, field: string, value: unknown, entry: string): void {
      const id = `${object}.${field}`;
      const known = found.get(id) ?? newField(object, field);
      found.set(id, known);
      known.count++;
      known.types.add(typeOfJson(value));
      if (known.entries.length < MOST_ENTRIES && !known.entries.includes(entry)) known.entries.push(entry);
      if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") return;
      known.forms.add(formOfAny(value));
      if (typeof value === "string") known.prefixes.add(PERSONAL.test(field) ? "no prefix" : shown.prefix(value));
      const scalar = shownScalar(field, value, shown);
      if (known.values.size < MOST_VALUES) known.values.set(scalar, (known.values.get(scalar) ?? 0) + 1);
    },
  };
}

export function typeOfJson(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

/** Fields whose values can be about a person. */
const PERSONAL =
  /name|mail|phone|mobile|address|street|city|town|birth|iban|holder|guest|contact|person|note|comment|descri|title|token|secret|key|password|pin|code$|\bip\b/i;

/** Larger numbers are not shown, because they could be amounts, times or account numbers. */
const LARGEST_SHOWN = 1_000;

/**
 * Shows a text only if it is spelt like a code, in lower case or in capitals: names of people and places begin with one
 * capital.
 */
function shownScalar(field: string, value: string | number | boolean, shown: ShownTexts): string | number | boolean {
  if (typeof value === "boolean") return value;
  if (PERSONAL.test(field)) return "";
  if (typeof value === "number") return Math.abs(value) < LARGEST_SHOWN ? value : "";
  return /^([a-z][a-z0-9_.-]*|[A-Z][A-Z0-9_]*)$/.test(value) && shown.code(value) === value ? value : "";
}

/** The ways in which a service of another hand writes everything differently, with what a client must do about each. */
const SHAPES = {
  names: "names of another case style: convert the names of fields in one place of the client",
  envelope: "replies in an envelope: unwrap each reply before the client reads it",
  pagination: "another pagination: follow the service's own field to the next page",
  amounts: "amounts in another form: convert them to integers in the smallest unit where the client reads them",
  times: "times in another form: convert them where the client reads them",
  ids: "ids without the sandbox's prefixes: do not read the kind of a record from its id",
  errors: "errors of another form: read the code and the invalid fields from where the service has them",
  events: "the record of an event in a field of its data: read it from there",
  signature: "signatures of another form: verify them as the service signs",
  unknown: "replies that are not recognised: check that the address is that of this service",
} as const;

type ShapeKind = keyof typeof SHAPES;

interface Shape {
  kind: ShapeKind;
  advice: string;
  /** A few examples, such as `merchant_id for merchantId`. */
  seen: string[];
  count: number;
  entries: string[];
}

const MOST_EXAMPLES = 3;

function createShapes() {
  const found = new Map<ShapeKind, Shape>();
  return {
    /** In the order in which they are declared. */
    all: () => (Object.keys(SHAPES) as ShapeKind[]).flatMap((kind) => found.get(kind) ?? []),
    note(kind: ShapeKind, example: string, entry: string): void {
      const shape = found.get(kind) ?? { kind, advice: SHAPES[kind], seen: [], count: 0, entries: [] };
      found.set(kind, shape);
      shape.count++;
      if (shape.seen.length < MOST_EXAMPLES && !shape.seen.includes(example)) shape.seen.push(example);
      if (shape.entries.length < MOST_ENTRIES && shape.entries.at(-1) !== entry) shape.entries.push(entry);
    },
  };
}
