// One call on its context through the model: what was sent, who sent it, and what the service chose of its own for the answer.

import { type Fields, type KindName, kinds } from "./record-kinds.ts";
import { buildRecord, type Entry, type Event, type Merchant, newestFirst, recordsOf, secondsOf, type World } from "./world.ts";

/** An HTTP request as it goes out. */
export interface Request {
  method: string;
  /** With its query. */
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

export interface Call {
  world: World;
  merchant: Merchant;
  /** Seconds. */
  now: number;
  params: Record<string, string>;
  query: Map<string, string>;
  /** The fields that the operation knows, and those that it does not. */
  body: Fields;
  extra: Fields;
  /** What the service answered: whatever it may choose itself, such as a new id, is taken from there. */
  observed: unknown;
  /** Headers that this operation's success has of its own. */
  headers: Record<string, string>;
  /** What was chosen and may not be. */
  violations: string[];
}

/** Stands where the model has no opinion, and where it only knows that there is some text. */
export const ANYTHING = Symbol("anything");
export const SOME_TEXT = Symbol("some text");

/** An answer that is an error. */
export class ApiError extends Error {
  readonly code: string;
  readonly headers: Record<string, string>;

  constructor(code: string, headers: Record<string, string> = {}) {
    super(code);
    this.code = code;
    this.headers = headers;
  }
}

export function refuse(code: string, headers?: Record<string, string>): never {
  throw new ApiError(code, headers);
}

const STATUSES: Record<string, number> = {
  missing_api_key: 401,
  malformed_authorization: 401,
  invalid_api_key: 401,
  token_expired: 401,
  invalid_credentials: 401,
  live_key_refused: 403,
  merchant_suspended: 403,
  resource_not_found: 404,
  route_not_found: 404,
  method_not_allowed: 405,
  invalid_state: 409,
  already_exists: 409,
  idempotency_key_in_use: 409,
  unsupported_media_type: 415,
  unsupported_content_encoding: 415,
  idempotency_key_reused: 422,
  rate_limit_exceeded: 429,
  injected_rate_limit: 429,
  injected_error: 500,
  outage: 503,
};

/** Whatever is not named above is a 400. */
export const statusOf = (code: string): number => STATUSES[code] ?? 400;

/** What the answer holds at a place; undefined where it is another answer. */
export function observedAt(call: Call, ...steps: (string | number)[]): unknown {
  return steps.reduce<unknown>((value, step) => (value as Record<string | number, unknown> | undefined | null)?.[step], call.observed);
}

/** A value that the service chose: it must have the form that it promises. */
export function chosen(call: Call, form: RegExp, ...steps: (string | number)[]): string {
  const value = observedAt(call, ...steps);
  if (typeof value === "string" && form.test(value)) return value;
  call.violations.push(`${steps.join(".")} must be like ${form}, and is ${JSON.stringify(value)}`);
  return "unknown";
}

/** A new id: of the right form, and given to nothing before. */
export function newId(call: Call, prefix: string, ...steps: (string | number)[]): string {
  const id = chosen(call, new RegExp(`^${prefix}_[0-9A-Za-z]{16}$`), ...steps);
  const name = `${call.merchant.id} ${id}`;
  if (call.world.given.has(name)) call.violations.push(`${id} was given before`);
  call.world.given.add(name);
  return id;
}

export const find = (call: Call, kind: KindName, id: string): Entry | undefined =>
  recordsOf(call.merchant, kind).find((one) => one.id === id);

/** The caller's own record; another's is as unknown as nobody's. */
export const own = (call: Call, kind: KindName, id = ""): Entry => find(call, kind, id) ?? refuse("resource_not_found");

/** The one record of a kind of which a merchant has one at most. */
export const only = (call: Call, kind: KindName): Entry | undefined => newestFirst(recordsOf(call.merchant, kind))[0];

export function emit(world: World, merchant: Merchant, type: string, data: unknown, test = false): Event {
  const event = {
    order: world.orders++,
    id: undefined,
    merchant: merchant.id,
    type,
    created: secondsOf(world.now),
    data: structuredClone(data),
    test,
  };
  merchant.events.push(event);
  enqueueDeliveries(world, merchant, event);
  return event;
}

/** Every enabled endpoint that wants the type is owed the event: those that want every type first. */
function enqueueDeliveries(world: World, merchant: Merchant, event: Event): void {
  for (const endpoint of subscribedEndpoints(merchant, event.type))
    merchant.deliveries.push({
      order: world.orders++,
      event,
      endpoint,
      trigger: event.test ? "test" : "event",
      state: "pending",
      allowed: 6,
      attempts: 0,
      due: world.now,
      decided: undefined,
      isCopy: false,
    });
}

export function subscribedEndpoints(merchant: Merchant, type: string): string[] {
  const enabled = recordsOf(merchant, "webhook_endpoint").filter(({ status }) => status === "enabled");
  const ids = (wanted: string) => enabled.filter(({ events }) => (events as string[]).includes(wanted)).map(({ id }) => id);
  return [...new Set([...ids("*").sort(), ...ids(type).sort()])];
}

/** A new record of the caller's, and the event that emits of it. */
export function create(call: Call, kind: KindName, fields: Fields, at?: number): Entry {
  const id = (fields.id as string | undefined) ?? newId(call, kinds[kind].prefix, "id");
  const record = buildRecord(kind, call.merchant.id, at ?? call.now, { ...fields, id });
  recordsOf(call.merchant, kind).push(record);
  emitCreation(call.world, call.merchant, kind, record);
  return record;
}

/** Tells of a record that came into being: in its first state, and in the one it came in where that is another. */
export function emitCreation(world: World, merchant: Merchant, kind: KindName, record: Entry): void {
  const emits: Record<string, string> = kinds[kind].emits;
  const first = (kinds[kind].defaults as Fields).status;
  if (emits.created) emit(world, merchant, emits.created, first === undefined ? record : { ...record, status: first });
  const stateEvent = emits[String(record.status)];
  if (stateEvent && (record.status !== first || !emits.created)) emit(world, merchant, stateEvent, record);
}

/** Moves a record to another state, if the table of transitions allows it. */
export function transition(world: World, merchant: Merchant, kind: KindName, record: Entry, to: string, fields: Fields = {}): Entry {
  const { transitions, emits }: { transitions: Record<string, string[]>; emits: Record<string, string> } = kinds[kind];
  if (!transitions[String(record.status)]?.includes(to)) refuse("invalid_state");
  Object.assign(record, fields, { status: to });
  if (emits[to]) emit(world, merchant, emits[to], record);
  return record;
}
