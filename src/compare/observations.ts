// Collects the evidence in a recording: observations of facts, and ids, tokens and secrets.

import type { FactBound, FactValue, Lenient, Observation, ServiceFact } from "../contracts/fact.ts";
import { memoize } from "../kernel/bounded-cache.ts";
import { isObject } from "../kernel/json-object.ts";
import type { TSchema } from "../schema/shapes.ts";
import { fieldPlace, fieldsOf, type Inner, innerOf, isRequired, valuesOf } from "../schema/walk.ts";
import { type ComparedSandbox, MOST_ENTRIES, type RecordedCall, succeeded } from "./recording.ts";
import { isMasked, type ShownTexts } from "./shown-texts.ts";
import type { Hint } from "./suggested-assumptions.ts";

interface ObservedIn {
  entry: string;
  operation?: string | undefined;
  lenient?: Lenient | undefined;
  bound?: FactBound | undefined;
}

export type ObservationLog = ReturnType<typeof createObservationLog>;

export function createObservationLog(sandbox: ComparedSandbox, shown: ShownTexts) {
  const facts = new Map(sandbox.facts.map((fact): [string, ServiceFact] => [fact.id, { ...fact }]));
  const observations: Observation[] = [];
  /** Numbers that limit the value of a fact without confirming or contradicting it. */
  const hints: Hint[] = [];
  return {
    shown,
    observations,
    hints,
    /** The conventions in which the service differs everywhere, such as snake_case. */
    shapes: createShapes(),
    fact: (id: string): ServiceFact | undefined => facts.get(id),
    object: memoize(MOST_OBJECTS, (name: string, schema: TSchema) => objectFacts(name, schema, facts)),
    listed: (id: string, values: readonly string[]) => listedFacts(id, values, facts),
    /** Records an observation. Ignores facts that the sandbox does not have. */
    record(about: string | ServiceFact | undefined, seen: FactValue, agrees: boolean, where: ObservedIn): void {
      const fact = typeof about === "string" ? this.fact(about) : about;
      if (fact) observe(observations, fact, seen, agrees, where);
    },
    /** Records an observation that agrees if it equals the fact's value. */
    compare(about: string | ServiceFact | undefined, seen: FactValue, where: ObservedIn): void {
      const fact = typeof about === "string" ? this.fact(about) : about;
      if (fact) observe(observations, fact, seen, fact.value === seen, where);
    },
  };
}

/** The most objects whose facts are kept, whatever the size of the recording. The sandbox itself has fewer. */
const MOST_OBJECTS = 10_000;

/**
 * Facts are looked up once per object, because building an id for each value of a recording takes longer than comparing
 * the value.
 */
function objectFacts(name: string, schema: TSchema, facts: ReadonlyMap<string, ServiceFact>) {
  const fields = fieldsOf(schema).map(([own, inner]) => {
    const id = fieldPlace(name, own);
    return {
      own,
      isRequired: isRequired(schema, own),
      presence: facts.get(id),
      required: facts.get(`${id}.required`),
      value: valueFacts(id, inner, facts),
    };
  });
  return { fields, names: new Set(fields.map(({ own }) => own)), others: facts.get(`${name}.other_fields`) };
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

/** The fact about a list of values, and the facts about its single values, by value. */
function listedFacts(id: string, values: readonly string[], facts: ReadonlyMap<string, ServiceFact>) {
  const all = facts.get(`${id}.values`);
  const each = values.flatMap((value) => facts.get(`${id}.values.${value}`) ?? []);
  return { all, each: new Map(each.toReversed().map((fact) => [String(fact.value), fact])) };
}

/**
 * A fact with its observations by value, and with the last one. Trick: the last one is compared first. Reason: values
 * repeat. Figure: without it, comparing a recording of 3,600 calls costs 1.1 to 1.3 times the CPU time.
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

/** The access token in a response and its lifetime, in the fields of OAuth or of the sandbox. */
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

export function typeOfJson(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

/** The ways in which an independently written service differs everywhere, with what a client must do about each. */
const SHAPES = {
  names: "names of another case style: convert the names of fields in one place of the client",
  envelope: "replies in an envelope: unwrap each reply before the client reads it",
  pagination: "another pagination: follow the service's own field to the next page",
  amounts: "amounts in another form: convert them to integers in the smallest unit where the client reads them",
  times: "times in another form: convert them where the client reads them",
  ids: "ids without the sandbox's prefixes: do not read the kind of a record from its id",
  errors: "errors of another form: read the code and the invalid fields from where the service has them",
  events: "the record of an event in a field of its data: read it from there",
  signature: "signatures of another form: verify them by the service's own scheme",
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
    /** The shapes that were noted, in the order in which `SHAPES` declares them. */
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
