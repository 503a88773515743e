// Renders a generated command as a concrete request or control action, using the records, keys and calls of the run so
// far.

import type { Request } from "../call.ts";
import { type ControlCommand, controlCommands } from "../control-commands.ts";
import { receiverOf } from "../deliveries.ts";
import type { FaultRuleInput } from "../faults.ts";
import { LISTED, operations } from "../operations.ts";
import type { Fields, KindName } from "../record-kinds.ts";
import { type Entry, fixtures, type Merchant, recordsOf, type World } from "../world.ts";
import { ADDRESSES, changed } from "./body-arbitraries.ts";
import { type CallCommand, type Command, type Pick, type Query, statesOf, type Who } from "./commands.ts";
import type { FaultCommand } from "./fault-commands.ts";

export type RenderedCommand =
  | { kind: "call"; request: Request }
  | { kind: "controlCommand"; controlCommand: ControlCommand }
  /** `during` is the call in flight when the crash happens. */
  | { kind: "crash"; during: Request | undefined };

/** The facts about the run so far that rendering needs. */
export interface RunHistory {
  world: World;
  /** Calls, oldest first. */
  calls: Request[];
  /** The number of commands so far. It makes addresses of endpoints and ids of rules unique. */
  count: number;
  /** The base address of the receivers: `http://127.0.0.1:PORT`. */
  receivers: string;
}

/** Returns undefined if there is nothing to which the command could apply. */
export function renderCommand(history: RunHistory, command: Command): RenderedCommand | undefined {
  switch (command.type) {
    case "call":
      return { kind: "call", request: renderCall(history, command) };
    case "astray":
      return {
        kind: "call",
        request: {
          method: command.method,
          path: command.path,
          headers: headersOf(history.world, command.who),
          body: undefined,
        },
      };
    case "again": {
      const calls = [...history.calls]
        .reverse()
        .filter((call) => isRepeatable(call) && (!command.keyed || hasKey(call)));
      const request = at(command.nth, calls);
      return request && { kind: "call", request };
    }
    case "crash":
      return { kind: "crash", during: command.during ? interruptible(history, command.nth) : undefined };
    default: {
      const controlCommand = renderControlCommand(history, command);
      return controlCommand && { kind: "controlCommand", controlCommand };
    }
  }
}

/** The receivers `again` and `later` count events per address, so two endpoints must not share such an address. */
const isRepeatable = ({ body = "" }: Request) => !/\/(again|later)"/.test(body);

const hasKey = ({ headers }: Request) => /^k\d$/.test(headers["idempotency-key"] ?? "");

const at = <T>(nth: number, list: readonly T[]): T | undefined => list[nth % Math.max(1, list.length)];

/** Fixture merchants come first, in the order of the fixtures, even after a reset has added them again. */
function placeOf(merchant: string): number {
  const place = fixtures.findIndex(({ merchant: { id } }) => id === merchant);
  return place === -1 ? fixtures.length : place;
}
const inPlace = (world: World): Merchant[] =>
  [...world.merchants.values()].sort((one, other) => placeOf(one.id) - placeOf(other.id));
const merchantAt = (world: World, nth: number): Merchant => at(nth, inPlace(world)) as Merchant;

function headersOf(world: World, { as, nth }: Who): Record<string, string> {
  const keys = [...world.keys].sort(([, one], [, other]) => placeOf(one.merchant) - placeOf(other.merchant));
  const own = at(
    nth,
    keys.filter(([, { expires }]) => expires === undefined),
  )?.[0];
  const session = at(
    nth,
    keys.filter(([, { expires }]) => expires !== undefined),
  )?.[0];
  const sent = {
    key: `Bearer ${own}`,
    session: `bearer ${session ?? own}`,
    none: undefined,
    unknown: "Bearer sk_test_nobody",
    malformed: `Basic ${own}`,
    live: "Bearer sk_live_never",
  }[as];
  return sent === undefined ? {} : { authorization: sent };
}

/** The merchant whose key is sent, or the first merchant if the key is unknown. */
function callerOf(world: World, { authorization = "" }: Record<string, string>): Merchant {
  const key = world.keys.get(authorization.replace(/^\w+ /, ""));
  return world.merchants.get(key?.merchant ?? "") ?? merchantAt(world, 0);
}

function renderCall(history: RunHistory, command: CallCommand): Request {
  const { method, path } = operations.find(({ id }) => id === command.operation) as (typeof operations)[number];
  const headers = headersOf(history.world, command.who);
  const caller = callerOf(history.world, headers);
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => paramOf(history.world, caller, command, name));
  const search = queryOf(caller, command);
  const request: Request = {
    method,
    path: `/v1${filled}${search === "" ? "" : `?${search}`}`,
    headers,
    body: undefined,
  };
  if (command.key !== undefined) headers["idempotency-key"] = command.key;
  return method === "GET" ? request : withBody(request, bodyOf(history, command), command.oddity);
}

/** The kind of record in an operation's path, and the records that the operation accepts. */
const ABOUT: Record<string, [kind: KindName, isReady: (record: Entry) => boolean]> = {
  "customers.get": ["customer", () => true],
  "bookings.decline": ["booking", ({ status }) => status === "pending"],
  "payroll.override_item": [
    "payroll",
    ({ status, items }) => status === "draft" && Array.isArray(items) && items.length > 0,
  ],
  "variants.create": ["product", () => true],
  "remittances.confirm": ["remittance", ({ status }) => ["pending", "paid", "overdue"].includes(String(status))],
  "gov_payments.post": [
    "gov_payment",
    ({ status, bookkeeping }) => status === "paid" && (bookkeeping as Fields | null)?.status === "unposted",
  ],
  "webhooks.delete": ["webhook_endpoint", () => true],
  "webhooks.rotate_secret": ["webhook_endpoint", () => true],
};

function paramOf(world: World, caller: Merchant, { operation, picks }: CallCommand, name: string): string {
  const [kind, isReady] = ABOUT[operation] as (typeof ABOUT)[string];
  const record = pickFrom(world, caller, kind, isReady, picks[0] as Pick);
  if (name !== "iid") return record?.id ?? "nobody_at_all";
  const items = (Array.isArray(record?.items) ? (record.items as { id: string }[]) : []).map(({ id }) => id);
  return (picks[1]?.whose === "nobody" ? undefined : at(picks[1]?.nth ?? 0, items)) ?? "pyi_nobody";
}

function pickFrom(
  world: World,
  caller: Merchant,
  kind: KindName,
  isReady: (record: Entry) => boolean,
  { nth, whose }: Pick,
) {
  if (whose === "nobody") return undefined;
  const others = [...world.merchants.values()].filter((merchant) => merchant !== caller);
  const records = whose === "other" ? others.flatMap((merchant) => recordsOf(merchant, kind)) : recordsOf(caller, kind);
  const ready = records.filter(isReady);
  return at(nth, whose === "ready" && ready.length > 0 ? ready : records);
}

function bodyOf(
  { receivers, ...history }: RunHistory & { count: number },
  { operation, changes, address }: CallCommand,
): Fields | undefined {
  const usual = operations.find(({ id }) => id === operation)?.example;
  if (usual === undefined) return undefined;
  if (operation !== "webhooks.create") return changed({ ...usual, ...ownOf(operation, history.count) }, changes);
  const place =
    "address" in address ? at(address.address, ADDRESSES) : `${receivers}/${history.count}/${address.receiver}`;
  const isClosed = receiverOf(place ?? "") === "closed";
  return changed({ events: ["*"], url: isClosed ? `http://127.0.0.1:2/${history.count}/closed` : place }, changes);
}

/** Fields unique within a merchant, drawn from few values so that collisions happen. */
function ownOf(operation: string, count: number): Fields {
  if (operation === "merchants.create") return { email: `cafe${count % 6}@mail.example` };
  return operation === "variants.create" ? { sku: `A-${count % 6}`, options: { size: `${count % 4} kg` } } : {};
}

/** Serialises the body, with an oddity such as a wrong content type. */
function withBody(request: Request, fields: Fields | undefined, oddity: string | undefined): Request {
  if (fields === undefined || oddity === "nothing") return request;
  const json = JSON.stringify(fields);
  const types: Record<string, string> = { "text/plain": "text/plain", charset: 'application/json; charset="utf-8"' };
  const type: Record<string, string> =
    oddity === "no type" ? {} : { "content-type": types[oddity ?? ""] ?? "application/json" };
  const encoding: Record<string, string> = oddity === "gzip" ? { "content-encoding": "gzip" } : {};
  const bodies: Record<string, string> = { "no json": json.slice(0, -1), list: `[${json}]` };
  const body = bodies[oddity ?? ""] ?? json;
  return { ...request, headers: { ...request.headers, ...type, ...encoding }, body };
}

function queryOf(caller: Merchant, { operation, query }: CallCommand): string {
  const { limit, after, before, filter, unknown } = query as Query;
  if (unknown) return "colour=red";
  const kind = LISTED[operation];
  if (kind === undefined && operation !== "deliveries.list") return "";
  const known: { id: string | undefined }[] = kind === undefined ? caller.attempts : recordsOf(caller, kind);
  const idOf = ({ nth, whose }: Pick) => (whose === "nobody" ? "nobody" : (at(nth, known)?.id ?? "none_yet"));
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

/** A write with a key, of a merchant without endpoints. It is safe to interrupt and to send again. */
function interruptible({ calls, world }: RunHistory, nth: number): Request | undefined {
  const isQuiet = ({ headers }: Request) => recordsOf(callerOf(world, headers), "webhook_endpoint").length === 0;
  return at(
    nth,
    calls.filter((request) => hasKey(request) && isQuiet(request)),
  );
}

type GeneratedControlCommand = Exclude<Command, CallCommand | { type: "again" | "astray" | "crash" }>;

function renderControlCommand(history: RunHistory, command: GeneratedControlCommand): ControlCommand | undefined {
  const { world } = history;
  const merchantId = (nth: number) => merchantAt(world, nth).id;
  switch (command.type) {
    case "reset":
      return controlCommands.reset(command.nth === undefined ? undefined : merchantId(command.nth));
    case "add-merchant":
      return controlCommands.addMerchant(at(command.nth, fixtures)?.name ?? "");
    // At least one merchant is kept.
    case "remove":
      return world.merchants.size > 1 ? controlCommands.remove(merchantId(command.nth)) : undefined;
    case "record":
      return controlCommands.record(command.kind, merchantId(command.merchant), stateAt(command.kind, command.state));
    case "move": {
      const merchant = merchantAt(world, command.merchant);
      const record = at(command.nth, recordsOf(merchant, command.kind));
      const status = stateAt(command.kind, command.state);
      if (!record || status === undefined || hasConsequences(command.kind, record, status)) return undefined;
      return controlCommands.move(command.kind, merchant.id, record.id, status);
    }
    case "window":
      return controlCommands.window(merchantId(command.merchant), {
        remaining: command.remaining,
        resetIn: command.resetIn,
      });
    case "fault":
      return controlCommands.arm(ruleOf(history, command));
    case "disarm":
    case "save":
    case "restore":
      return controlCommands[command.type]();
    case "advance":
      return controlCommands.advance(command.by);
    case "set":
      return controlCommands[command.thaw ? "thaw" : "set"](Math.max(0, world.now + command.by * 1_000));
    case "replay":
      return replayOf(world, command);
    case "enable": {
      const endpoint = at(
        command.nth,
        [...world.merchants.values()].flatMap((merchant) => recordsOf(merchant, "webhook_endpoint")),
      );
      return endpoint && controlCommands.enable(String(endpoint.merchantId), endpoint.id);
    }
  }
}

/**
 * Whether the change has consequences that the model lacks: payments of stays and renewals, remittances of a payroll
 * run, and changes of stock.
 */
const hasConsequences = (kind: KindName, { items }: Entry, status: string): boolean =>
  (kind === "booking" && ["confirmed", "checked_out"].includes(status)) ||
  (kind === "membership_renewal" && status === "renewed") ||
  (kind === "payroll" && status === "paid" && (items as unknown[]).length > 0) ||
  (kind === "marketplace_order" &&
    ["accepted", "canceled"].includes(status) &&
    (items as Fields[]).some(({ variantId }) => variantId !== null));

const stateAt = (kind: KindName, nth: number | undefined): string | undefined =>
  nth === undefined ? undefined : at(nth, statesOf(kind));

function ruleOf(history: RunHistory, { match, trigger, action }: FaultCommand): FaultRuleInput {
  const { merchant, ...named } = match;
  const whose = merchant === undefined ? {} : { merchant: merchantAt(history.world, merchant).id };
  return {
    id: `flt_${history.count}`,
    match: { ...named, ...whose },
    trigger,
    action: action as unknown as FaultRuleInput["action"],
  };
}

function replayOf(world: World, { nth, attempt }: { nth: number; attempt: boolean }): ControlCommand | undefined {
  const merchants = [...world.merchants.values()];
  const made = at(
    nth,
    merchants.flatMap(({ attempts }) => attempts),
  );
  if (attempt) return made && controlCommands.replayAttempt(made);
  const event = at(
    nth,
    merchants.flatMap(({ events }) => events),
  );
  return event && controlCommands.replay(event);
}
