// One authenticated call in the model, and the helpers its operation uses: lookups, creation, transitions and events.

import { type ErrorCode, errors } from "../../src/kernel/errors.ts";
import { arrivalValues, type Fields, type Home, type KindName, kindOf, wayTo } from "./record-kinds.ts";
import {
  buildRecord,
  type Delivery,
  type Entry,
  type Event,
  type Merchant,
  newestFirst,
  recordsOf,
  secondsOf,
  type World,
} from "./world.ts";

export interface Request {
  method: string;
  /** Path and query. */
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
  /**
   * `body` has the fields that the operation knows, and `extra` has unknown fields. `asSent` has known fields with a
   * value of another type, which records show unchanged.
   */
  body: Fields;
  extra: Fields;
  asSent: Fields;
  /** Body of the observed response, from which generated values such as ids are read. */
  observed: unknown;
  /** Headers added to a successful response. */
  headers: Record<string, string>;
  /** Generated values that break the rules. */
  violations: string[];
}

/** Wildcards: any value, and any text that is not empty. */
export const ANYTHING = Symbol("anything");
export const SOME_TEXT = Symbol("some text");
/** Any number from 0. */
export const SOME_NUMBER = Symbol("some number");

/** An error response. */
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

/** The status of an error, as the table of errors declares it. */
export const statusOf = (code: string): number => errors[code as ErrorCode].status;

/** The value at a path in the observed response; undefined if there is none. */
function observedAt(call: Call, ...steps: (string | number)[]): unknown {
  return steps.reduce<unknown>(
    (value, step) => (value as Record<string | number, unknown> | undefined | null)?.[step],
    call.observed,
  );
}

/** A value that the service generated. A value that does not match the pattern is a violation. */
export function chosen(call: Call, form: RegExp, ...steps: (string | number)[]): string {
  const value = observedAt(call, ...steps);
  if (typeof value === "string" && form.test(value)) return value;
  call.violations.push(`${steps.join(".")} must match ${form}, is ${JSON.stringify(value)}`);
  return "unknown";
}

/** A generated id. It must match the pattern, and must not have been given before. */
export function newId(call: Call, prefix: string, ...steps: (string | number)[]): string {
  const id = chosen(call, new RegExp(`^${prefix}_[0-9A-Za-z]{16}$`), ...steps);
  const name = `${call.merchant.id} ${id}`;
  if (call.world.given.has(name)) call.violations.push(`${id} was given before`);
  call.world.given.add(name);
  return id;
}

export const find = (call: Call, kind: KindName, id: string): Entry | undefined =>
  recordsOf(call.merchant, kind).find((one) => one.id === id);

/** A record of the calling merchant. Records of other merchants are not found. */
export const own = (call: Call, kind: KindName, id = ""): Entry => find(call, kind, id) ?? refuse("resource_not_found");

/** The merchant's only record of a kind, such as its settings. */
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
  for (const endpoint of subscribedEndpoints(merchant, type))
    enqueueDelivery(world, merchant, event, endpoint, test ? "test" : "event", 6);
  return event;
}

export function enqueueDelivery(
  world: World,
  merchant: Merchant,
  event: Event,
  endpoint: string,
  trigger: Delivery["trigger"],
  allowed: number,
): void {
  const { orders, now: due } = world;
  world.orders++;
  const start = { state: "pending" as const, attempts: 0, decided: undefined, isCopy: false };
  merchant.deliveries.push({ number: undefined, order: orders, event, endpoint, trigger, allowed, due, ...start });
}

/** The ids of the enabled endpoints that get this type. Endpoints subscribed to every type come first. */
export function subscribedEndpoints(merchant: Merchant, type: string): string[] {
  const enabled = recordsOf(merchant, "webhook_endpoint").filter(({ status }) => status === "enabled");
  const ids = (wanted: string) =>
    enabled.filter(({ events }) => (events as string[]).includes(wanted)).map(({ id }) => id);
  return [...new Set([...ids("*").sort(), ...ids(type).sort()])];
}

/** Creates a record and emits its events. */
export function create(call: Call, kind: KindName, fields: Fields): Entry {
  const id = (fields.id as string | undefined) ?? newId(call, kindOf(kind).prefix, "id");
  const record = buildRecord(kind, call.merchant.id, call.now, { ...fields, id });
  Object.assign(record, call.asSent);
  return arriveNew(call.world, call.merchant, kind, record);
}

/**
 * Adds a new record in its first state, then moves it to its given state by the shortest path. Each state emits its
 * event.
 */
export function arriveNew(world: World, merchant: Merchant, kind: KindName, record: Entry): Entry {
  const { events, transitions, defaults } = kindOf(kind);
  const first = defaults.status as string | undefined;
  const [, ...later] = wayTo(transitions, first, String(record.status));
  if (first !== undefined)
    Object.assign(record, { status: first }, arrivalValues(kind, first, record.created, record, homeOf(merchant)));
  recordsOf(merchant, kind).push(record);
  if (events.created) emit(world, merchant, events.created, record);
  for (const status of later) transition(world, merchant, kind, record, status);
  return record;
}

/** Moves a record to another state if the transitions of its kind allow it. `seconds` is the time of the call. */
export function transition(
  world: World,
  merchant: Merchant,
  kind: KindName,
  record: Entry,
  to: string,
  fields: Fields = {},
  seconds = secondsOf(world.now),
): Entry {
  const { transitions, events } = kindOf(kind);
  if (!transitions[String(record.status)]?.includes(to)) refuse("invalid_state");
  const moved: Entry = { ...record, ...fields, status: to };
  const values = arrivalValues(kind, to, Math.max(seconds, record.created), moved, homeOf(merchant));
  for (const [field, value] of Object.entries(values))
    if (fields[field] == null && !isUnnumbered(field, fields)) moved[field] = value;
  if (!isInOrder(kind, moved)) refuse("validation_failed");
  Object.assign(record, moved);
  if (events[to]) emit(world, merchant, events[to], record);
  if (kind === "payout" && (to === "failed" || to === "canceled")) releasePayments(merchant, record);
  if (kind === "booking" && (to === "cancelled" || to === "declined")) refundDeposit(world, merchant, record, seconds);
  return record;
}

/** A receipt number that the caller sent as null stays null. */
const isUnnumbered = (field: string, fields: Fields) => field === "receiptNumber" && fields[field] === null;

/** Refunds the paid deposit of a booking that does not take place. */
function refundDeposit(world: World, merchant: Merchant, booking: Entry, seconds: number): void {
  const deposit = recordsOf(merchant, "payment").find(({ id }) => id === booking.paymentId);
  if (deposit?.status === "succeeded") transition(world, merchant, "payment", deposit, "refunded", {}, seconds);
}

/** Releases the payments of a payout that does not arrive, so that another payout can contain them. Emits no event. */
function releasePayments(merchant: Merchant, payout: Entry): void {
  for (const { paymentId, amount } of payout.payments as { paymentId: string; amount: number }[]) {
    const payment = recordsOf(merchant, "payment").find(({ id }) => id === paymentId);
    if (!payment) continue;
    payment.paidOutAmount = Number(payment.paidOutAmount) - amount;
    if (payment.payoutId === payout.id) payment.payoutId = null;
  }
}

/** Whether the times of a record are in order. They must be, even if the clock was set back. */
function isInOrder(kind: KindName, record: Fields): boolean {
  const times = kindOf(kind).orders.map((fields) => fields.map((field) => record[field]));
  return times.every(
    ([earlier, later]) => typeof earlier !== "number" || typeof later !== "number" || earlier <= later,
  );
}

/** What the states of the merchant's records need to know about the merchant. */
function homeOf(merchant: Merchant): Home {
  const country = recordsOf(merchant, "merchant")[0]?.country;
  const inUse = newestFirst(recordsOf(merchant, "payout_method")).filter(({ status }) => status !== "replaced");
  return {
    country: typeof country === "string" ? country : null,
    payoutMethodId: inUse.find(({ isDefault }) => isDefault)?.id ?? null,
    next(kind, field, prefix) {
      const number = new RegExp(`^${prefix}-(\\d{1,12})$`);
      const numbers = recordsOf(merchant, kind).map((record) => Number(number.exec(String(record[field]))?.[1] ?? 0));
      return `${prefix}-${String(Math.max(0, ...numbers) + 1).padStart(4, "0")}`;
    },
  };
}
