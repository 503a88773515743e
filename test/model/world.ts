// What the service remembers: merchants with all they have, keys, windows, answers, events, and what is owed to endpoints.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FaultRule } from "./faults.ts";
import { type Fields, type KindName, kinds } from "./record-kinds.ts";

/** A record as the API shows it. */
export interface Entry extends Fields {
  id: string;
  created: number;
}

/** Requests are counted in windows; milliseconds, and at first those of the epoch. */
export interface Window {
  limit: number;
  length: number;
  start: number;
  end: number;
  used: number;
}

/** What was answered to an Idempotency-Key the first time. */
export interface IdempotencyReply {
  /** Method, path, query and body, however they were written. */
  request: string;
  status: number | "none";
  body?: unknown;
  code?: string | undefined;
  /** The bytes; undefined where nobody has seen them yet. */
  text: string | undefined;
  expires: number;
}

export interface Event {
  /** Counts all events. */
  order: number;
  /** FaultRuleInput by the service; undefined until somebody has read it. */
  id: string | undefined;
  /** The id that the call which made it was answered, where it was. */
  promised?: string;
  merchant: string;
  type: string;
  /** Seconds. */
  created: number;
  data: unknown;
  test: boolean;
}

/** What never shows in the record of an endpoint. */
export interface Endpoint {
  id: string;
  merchant: string;
  /** Undefined where the answer that showed it was lost. */
  secret: string | undefined;
  disabledReason: string | null;
}

/** One event owed to one endpoint. */
export interface Delivery {
  /** Counts all deliveries. */
  order: number;
  event: Event;
  endpoint: string;
  trigger: "event" | "test" | "replay";
  state: "pending" | "succeeded" | "failed" | "cancelled";
  /** How many attempts may fail. */
  allowed: number;
  attempts: number;
  /** Milliseconds. */
  due: number;
  /** What fault rules do to the attempt to come; undefined while they were not asked. */
  decided: Decision | undefined;
  /** What a fault rule made beside a delivery. */
  isCopy: boolean;
}

/** What fault rules decided about an attempt. */
export interface Decision {
  drop?: true;
  signature?: "missing" | "wrong_secret";
  extraField?: true;
  copies?: number;
  policy?: "ignore_2xx" | "give_up";
}

/** A row of the delivery log. */
export interface Attempt {
  /** FaultRuleInput by the service; undefined until somebody has read it. */
  id: string | undefined;
  delivery: Delivery;
  trigger: "event" | "test" | "replay" | "retry";
  attempt: number;
  url: string;
  status: "succeeded" | "failed";
  responseStatus: number | null;
  errorCode: string | null;
  /** Milliseconds; null when there is no next attempt. */
  nextDue: number | null;
  ended: number;
  decided: Decision;
  /** The secret that signed it. */
  secret: string | undefined;
}

export interface Merchant {
  id: string;
  /** The fixture it came from, and under which address and key; undefined for one that was created through the API. */
  origin: { fixture: Fixture; email: string; key: string } | undefined;
  records: Map<KindName, Entry[]>;
  endpoints: Endpoint[];
  idempotencyReplies: Map<string, IdempotencyReply>;
  events: Event[];
  deliveries: Delivery[];
  attempts: Attempt[];
}

export interface Fixture {
  name: string;
  merchant: Fields & { id: string; email: string; apiKey: string; password?: string; created: number };
  records: Partial<Record<KindName, Fields[]>>;
}

export interface Rules {
  limit: number;
  /** Milliseconds. */
  window: number;
  /** Whether a body of another shape is refused, or taken as far as it fits. */
  bodies: "checked" | "open";
}

export interface World {
  rules: Rules;
  /** Milliseconds. */
  now: number;
  merchants: Map<string, Merchant>;
  /** Keys, and the tokens of sessions, which expire. */
  keys: Map<string, { merchant: string; expires: number | undefined }>;
  logins: Map<string, { merchant: string; password: string | undefined }>;
  windows: Map<string, Window>;
  /** In the order in which they are tried. */
  faults: FaultRule[];
  /** How many events and deliveries there were. */
  orders: number;
  /** How often each address was sent each event: receivers idempotencyReply that, whatever the service forgets. */
  seen: Map<string, number>;
  /** What a snapshot holds. */
  saved: PersistentState | undefined;
  /** Every id that was given since the merchant's initial: none is given twice. */
  given: Set<string>;
}

/** What is on disk, and so in a snapshot: windows and fault rules are not. */
export type PersistentState = Pick<World, "merchants" | "keys" | "logins" | "given">;

/** A copy of it, so that what changes later does not change it. */
export const snapshotOf = ({ merchants, keys, logins, given }: PersistentState): PersistentState =>
  structuredClone({ merchants, keys, logins, given });

const FOLDER = join(import.meta.dirname, "../../fixtures/merchants");

export const fixtures: readonly Fixture[] = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".json"))
  .map((name): Fixture => ({ name: name.replace(".json", ""), ...JSON.parse(readFileSync(join(FOLDER, name), "utf8")) }))
  .sort((one, other) => one.merchant.created - other.merchant.created);

export function createWorld(now: number, rules: Rules): World {
  const empty = {
    merchants: new Map(),
    keys: new Map(),
    logins: new Map(),
    windows: new Map(),
    faults: [],
    orders: 0,
    seen: new Map(),
    saved: undefined,
    given: new Set<string>(),
  };
  const world: World = { rules, now, ...empty };
  fillWithFixtures(world);
  return world;
}

export const secondsOf = (milliseconds: number): number => Math.floor(milliseconds / 1_000);

export function fillWithFixtures(world: World): void {
  for (const part of [world.merchants, world.keys, world.logins, world.windows, world.given]) part.clear();
  world.faults.length = 0;
  for (const fixture of fixtures) addFixtureMerchant(world, fixture, fixture.merchant.id, fixture.merchant.email, fixture.merchant.apiKey);
}

/** Lets the merchant of a fixture come with everything it has, and emits nobody. */
export function addFixtureMerchant(world: World, fixture: Fixture, id: string, email: string, key: string): void {
  const { apiKey: _, password, ...profile } = fixture.merchant;
  const merchant = addMerchant(world, id, { fixture, email, key });
  const all = Object.entries({ merchant: [{ ...profile, id, email }], ...fixture.records }) as [KindName, Fields[]][];
  for (const [kind, records] of all)
    for (const record of records) recordsOf(merchant, kind).push(buildRecord(kind, id, profile.created, record as Fields & { id: string }));
  world.keys.set(key, { merchant: id, expires: undefined });
  world.logins.set(email, { merchant: id, password });
}

export function addMerchant(world: World, id: string, origin: Merchant["origin"]): Merchant {
  const nothing = { endpoints: [], events: [], deliveries: [], attempts: [] };
  const merchant: Merchant = { id, origin, records: new Map(), idempotencyReplies: new Map(), ...nothing };
  world.merchants.set(id, merchant);
  return merchant;
}

/** Forgets a merchant and all that is its own. Windows and fault rules of others stay. */
export function removeMerchant(world: World, id: string): void {
  world.merchants.delete(id);
  for (const [key, { merchant }] of world.keys) if (merchant === id) world.keys.delete(key);
  for (const [email, { merchant }] of world.logins) if (merchant === id) world.logins.delete(email);
  for (const name of world.given) if (name.startsWith(`${id} `)) world.given.delete(name);
  world.windows.delete(id);
  world.faults = world.faults.filter(({ match }) => match.merchant !== id);
}

export function merchantOf(world: World, id: string): Merchant {
  const found = world.merchants.get(id);
  if (!found) throw new Error(`The model has no merchant ${id}.`);
  return found;
}

/** Records of a kind, in the order in which they came. */
export function recordsOf(merchant: Merchant, kind: KindName): Entry[] {
  const found = merchant.records.get(kind) ?? [];
  merchant.records.set(kind, found);
  return found;
}

/** A whole record: what was given, and else what a new one of its kind holds. */
export function buildRecord(kind: KindName, merchant: string, now: number, given: Fields & { id: string }): Entry {
  const usual = {
    object: kind,
    merchantId: merchant,
    ...kinds[kind].defaults,
    metadata: {},
    created: now,
    ...(kind === "customer" ? {} : { livemode: false }),
  };
  const isSaid = ([name, value]: [string, unknown]) => value !== undefined && !(value === null && name in usual);
  const said = Object.fromEntries(Object.entries(given).filter(isSaid));
  return { ...usual, ...said } as unknown as Entry;
}

/** Newest first: by the time of creation, and of one second by the order in which they came. */
export function newestFirst<R extends { created: number }>(records: readonly R[]): R[] {
  return records
    .map((record, place) => ({ record, place }))
    .sort((one, other) => other.record.created - one.record.created || other.place - one.place)
    .map(({ record }) => record);
}

/** Whose window a call is counted in: the merchant's, or that of all strangers. */
export function windowOf(world: World, whose: string): Window {
  const { limit, window: length } = world.rules;
  const known = world.windows.get(whose) ?? { limit, length, start: 0, end: 0, used: 0 };
  world.windows.set(whose, known);
  if (world.now < known.start || world.now >= known.end) {
    known.start = Math.floor(world.now / known.length) * known.length;
    known.end = known.start + known.length;
    known.used = 0;
  }
  return known;
}
