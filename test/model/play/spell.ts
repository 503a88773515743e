// Makes of a step what is really sent: looks up in the model which records, keys and earlier calls it is about.

import type { Request } from "../call.ts";
import { receiverOf } from "../deliveries.ts";
import type { Given } from "../faults.ts";
import type { Fields, KindName } from "../kinds.ts";
import { operations } from "../operations.ts";
import type { Deed } from "../steer.ts";
import { type Entry, fixtures, type Merchant, recordsOf, type World } from "../world.ts";
import type { FaultStep } from "./fault-steps.ts";
import { type CallStep, type Pick, type Query, type Step, statesOf, type Who } from "./steps.ts";
import { ADDRESSES, changed, USUAL } from "./values.ts";

export type Act =
  | { act: "call"; request: Request }
  | { act: "deed"; deed: Deed }
  /** `during`: while this call is under way. */
  | { act: "crash"; during: Request | undefined };

/** What a run has been through, as far as later steps ask for it. */
export interface Story {
  world: World;
  /** Calls, oldest first. */
  calls: Request[];
  /** Counts endpoints and rules: so that each has an address and an id of its own. */
  count: number;
  /** Where receivers are: `http://127.0.0.1:PORT/RUN`. */
  receivers: string;
}

/** Undefined where there is nothing that the step could be about. */
export function spell(story: Story, step: Step): Act | undefined {
  switch (step.step) {
    case "call":
      return { act: "call", request: spellCall(story, step) };
    case "astray":
      return { act: "call", request: { method: step.method, path: step.path, headers: headersOf(story.world, step.who), body: undefined } };
    case "again": {
      const calls = [...story.calls].reverse().filter((call) => isRepeatable(call) && (!step.keyed || hasKey(call)));
      const request = at(calls, step.nth);
      return request && { act: "call", request };
    }
    case "crash":
      return { act: "crash", during: step.during ? interruptible(story, step.nth) : undefined };
    default: {
      const deed = spellDeed(story, step);
      return deed && { act: "deed", deed };
    }
  }
}

/** Receivers that count take every event for their own: no two endpoints may be at one of them. */
const isRepeatable = ({ body = "" }: Request) => !/\/(again|later)"/.test(body);

const hasKey = ({ headers }: Request) => /^k\d$/.test(headers["idempotency-key"] ?? "");

const at = <T>(list: readonly T[], nth: number): T | undefined => list[nth % Math.max(1, list.length)];

/** Those of the fixtures first, also when they were reset. */
function placeOf(merchant: string): number {
  const place = fixtures.findIndex(({ merchant: { id } }) => id === merchant);
  return place === -1 ? fixtures.length : place;
}
const inPlace = (world: World): Merchant[] => [...world.merchants.values()].sort((one, other) => placeOf(one.id) - placeOf(other.id));
const merchantAt = (world: World, nth: number): Merchant => at(inPlace(world), nth) as Merchant;

function headersOf(world: World, { as, nth }: Who): Record<string, string> {
  const keys = [...world.keys].sort(([, one], [, other]) => placeOf(one.merchant) - placeOf(other.merchant));
  const own = at(
    keys.filter(([, { expires }]) => expires === undefined),
    nth,
  )?.[0];
  const session = at(
    keys.filter(([, { expires }]) => expires !== undefined),
    nth,
  )?.[0];
  switch (as) {
    case "key":
      return { authorization: `Bearer ${own}` };
    case "session":
      return { authorization: `bearer ${session ?? own}` };
    case "none":
      return {};
    case "unknown":
      return { authorization: "Bearer sk_test_nobody" };
    case "malformed":
      return { authorization: `Basic ${own}` };
    case "live":
      return { authorization: "Bearer sk_live_never" };
  }
}

/** Whose call it is: whoever its key belongs to, or anybody. */
function callerOf(world: World, { authorization = "" }: Record<string, string>): Merchant {
  const key = world.keys.get(authorization.replace(/^\w+ /, ""));
  return world.merchants.get(key?.merchant ?? "") ?? merchantAt(world, 0);
}

function spellCall(story: Story, step: CallStep): Request {
  const { method, path } = operations.find(({ id }) => id === step.operation) as (typeof operations)[number];
  const headers = headersOf(story.world, step.who);
  const caller = callerOf(story.world, headers);
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => paramOf(story.world, caller, step, name));
  const search = queryOf(caller, step);
  const request: Request = { method, path: `/v1${filled}${search === "" ? "" : `?${search}`}`, headers, body: undefined };
  if (step.key !== undefined) headers["idempotency-key"] = step.key;
  return method === "GET" ? request : withBody(request, bodyOf(story, step), step.oddity);
}

/** The kind of record that a path is about, and which of them the operation accepts. */
const ABOUT: Record<string, [kind: KindName, isReady: (record: Entry) => boolean]> = {
  "customers.get": ["customer", () => true],
  "bookings.decline": ["booking", ({ status }) => status === "pending"],
  "payroll.override_item": ["payroll", ({ status, items }) => status === "draft" && (items as unknown[]).length > 0],
  "variants.create": ["product", () => true],
  "remittances.confirm": ["remittance", ({ status }) => ["pending", "paid", "overdue"].includes(String(status))],
  "gov_payments.post": ["gov_payment", ({ status, bookkeeping }) => status === "paid" && (bookkeeping as Fields).status === "unposted"],
  "webhooks.delete": ["webhook_endpoint", () => true],
  "webhooks.rotate_secret": ["webhook_endpoint", () => true],
};

function paramOf(world: World, caller: Merchant, { operation, picks }: CallStep, name: string): string {
  const [kind, isReady] = ABOUT[operation] as (typeof ABOUT)[string];
  const record = pickFrom(world, caller, kind, isReady, picks[0] as Pick);
  if (name !== "iid") return record?.id ?? "nobody_at_all";
  const items = ((record?.items ?? []) as { id: string }[]).map(({ id }) => id);
  return (picks[1]?.whose === "nobody" ? undefined : at(items, picks[1]?.nth ?? 0)) ?? "pyi_nobody";
}

function pickFrom(world: World, caller: Merchant, kind: KindName, isReady: (record: Entry) => boolean, { nth, whose }: Pick) {
  if (whose === "nobody") return undefined;
  const others = [...world.merchants.values()].filter((merchant) => merchant !== caller);
  const records = whose === "other" ? others.flatMap((merchant) => recordsOf(merchant, kind)) : recordsOf(caller, kind);
  const ready = records.filter(isReady);
  return at(whose === "ready" && ready.length > 0 ? ready : records, nth);
}

function bodyOf({ receivers, ...story }: Story & { count: number }, { operation, changes, address }: CallStep): Fields | undefined {
  const usual = USUAL[operation];
  if (usual === undefined) return undefined;
  if (operation !== "webhooks.create") return changed({ ...usual, ...ownOf(operation, story.count) }, changes);
  const place = "address" in address ? at(ADDRESSES, address.address) : `${receivers}/${story.count}/${address.receiver}`;
  const isClosed = receiverOf(place ?? "") === "closed";
  return changed({ ...usual, url: isClosed ? `http://127.0.0.1:2/${story.count}/closed` : place }, changes);
}

/** What no two of a merchant's may share: a few values, so that now and then two do. */
function ownOf(operation: string, count: number): Fields {
  if (operation === "merchants.create") return { email: `cafe${count % 6}@mail.example` };
  return operation === "variants.create" ? { sku: `A-${count % 6}`, options: { size: `${count % 4} kg` } } : {};
}

/** The body as it goes out, or as a careless client would send it. */
function withBody(request: Request, fields: Fields | undefined, oddity: string | undefined): Request {
  if (fields === undefined || oddity === "nothing") return request;
  const json = JSON.stringify(fields);
  const types: Record<string, string> = { "text/plain": "text/plain", charset: 'application/json; charset="utf-8"' };
  const type: Record<string, string> = oddity === "no type" ? {} : { "content-type": types[oddity ?? ""] ?? "application/json" };
  const encoding: Record<string, string> = oddity === "gzip" ? { "content-encoding": "gzip" } : {};
  const body = oddity === "no json" ? json.slice(0, -1) : oddity === "list" ? `[${json}]` : json;
  return { ...request, headers: { ...request.headers, ...type, ...encoding }, body };
}

const LISTED: Record<string, KindName> = {
  "payouts.list": "payout",
  "marketplace_orders.list": "marketplace_order",
  "payments.list": "payment",
  "disciplinary.list": "disciplinary_record",
  "renewals.list": "membership_renewal",
  "sync_logs.list": "sync_log",
  "appraisals.list": "appraisal",
  "webhooks.list": "webhook_endpoint",
};

function queryOf(caller: Merchant, { operation, query }: CallStep): string {
  const { limit, after, before, filter, unknown } = query as Query;
  if (unknown) return "colour=red";
  const kind = LISTED[operation];
  if (kind === undefined && operation !== "deliveries.list") return "";
  const known: { id: string | undefined }[] = kind === undefined ? caller.attempts : recordsOf(caller, kind);
  const idOf = ({ nth, whose }: Pick) => (whose === "nobody" ? "nobody" : (at(known, nth)?.id ?? "none_yet"));
  const isThere = (pick: Pick) => pick.whose === "nobody" || known.length > 0;
  const parts = [
    ...(limit === undefined ? [] : [`limit=${limit}`]),
    ...(after === undefined || !isThere(after) ? [] : [`starting_after=${idOf(after)}`]),
    ...(before === undefined || !isThere(before) ? [] : [`ending_before=${idOf(before)}`]),
    ...(filter === undefined || kind !== undefined ? [] : [filterOf(caller, filter)]),
  ];
  return parts.join("&");
}

function filterOf({ events, endpoints }: Merchant, filter: string): string {
  if (filter === "event") return `eventId=${events.at(-1)?.id ?? "evt_none"}`;
  return filter === "endpoint" ? `endpointId=${endpoints.at(-1)?.id ?? "we_none"}` : filter;
}

/** A write under a key, whose merchant tells nobody: it may be cut off in the middle, and asked again. */
function interruptible({ calls, world }: Story, nth: number): Request | undefined {
  const isQuiet = ({ headers }: Request) => recordsOf(callerOf(world, headers), "webhook_endpoint").length === 0;
  return at(
    calls.filter((request) => hasKey(request) && isQuiet(request)),
    nth,
  );
}

type DeedStep = Exclude<Step, CallStep | { step: "again" | "astray" | "crash" }>;

function spellDeed(story: Story, step: DeedStep): Deed | undefined {
  const { world } = story;
  switch (step.step) {
    case "reset":
      return step.nth === undefined ? { do: "reset" } : { do: "reset", merchant: merchantAt(world, step.nth).id };
    case "mint":
      return { do: "mint", fixture: at(fixtures, step.nth)?.name ?? "" };
    // Somebody must be left.
    case "remove":
      return world.merchants.size > 1 ? { do: "remove", merchant: merchantAt(world, step.nth).id } : undefined;
    case "record":
      return { do: "record", kind: step.kind, merchant: merchantAt(world, step.merchant).id, status: stateAt(step.kind, step.state) };
    case "move": {
      const merchant = merchantAt(world, step.merchant);
      const record = at(recordsOf(merchant, step.kind), step.nth);
      const status = stateAt(step.kind, step.state);
      return record && status !== undefined ? { do: "move", kind: step.kind, merchant: merchant.id, id: record.id, status } : undefined;
    }
    case "window": {
      const { remaining, resetIn } = step;
      return { do: "window", merchant: merchantAt(world, step.merchant).id, remaining, ...(resetIn === undefined ? {} : { resetIn }) };
    }
    case "fault":
      return { do: "arm", rule: ruleOf(story, step) };
    case "disarm":
      return { do: "disarm" };
    case "save":
      return { do: "save" };
    case "restore":
      return { do: "restore" };
    case "advance":
      return { do: "advance", by: step.by };
    case "set":
      return { do: step.thaw ? "thaw" : "set", now: Math.max(0, world.now + step.by * 1_000) };
    case "replay":
      return replayOf(world, step);
    case "enable": {
      const endpoint = at(
        [...world.merchants.values()].flatMap((merchant) => recordsOf(merchant, "webhook_endpoint")),
        step.nth,
      );
      return endpoint && { do: "enable", merchant: String(endpoint.merchantId), endpoint: endpoint.id };
    }
  }
}

const stateAt = (kind: KindName, nth: number | undefined): string | undefined => (nth === undefined ? undefined : at(statesOf(kind), nth));

function ruleOf(story: Story, { match, trigger, action }: FaultStep): Given {
  const { merchant, ...named } = match;
  const whose = merchant === undefined ? {} : { merchant: merchantAt(story.world, merchant).id };
  return { id: `flt_${story.count}`, match: { ...named, ...whose }, trigger, action: action as unknown as Given["action"] };
}

function replayOf(world: World, { nth, attempt }: { nth: number; attempt: boolean }): Deed | undefined {
  const merchants = [...world.merchants.values()];
  const made = at(
    merchants.flatMap(({ attempts }) => attempts),
    nth,
  );
  if (attempt) return made && { do: "replay attempt", attempt: made };
  const event = at(
    merchants.flatMap(({ events }) => events),
    nth,
  );
  return event && { do: "replay", event };
}
