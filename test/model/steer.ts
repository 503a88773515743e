// What the control plane does to the world: resets, merchants, records, windows, faults, the clock, replays; and what a restart does.

import { arrive, emit, move, Refused, refuse, wanting } from "./call.ts";
import { advance, happen } from "./deliveries.ts";
import { arm, type Given, span } from "./faults.ts";
import { type Fields, type KindName, kinds } from "./kinds.ts";
import { endpointOf } from "./webhooks.ts";
import {
  type Attempt,
  compose,
  type Delivery,
  type Event,
  fillWithFixtures,
  fixtures,
  forget,
  kept,
  type Merchant,
  merchantOf,
  recordsOf,
  secondsOf,
  settle,
  type World,
  windowOf,
} from "./world.ts";

/** Something that is done to the sandbox from outside the service. */
export type Deed =
  | { do: "reset"; merchant?: string }
  | { do: "save" }
  | { do: "restore" }
  | { do: "mint"; fixture: string }
  | { do: "remove"; merchant: string }
  | { do: "record"; kind: KindName; merchant: string; status: string | undefined }
  | { do: "move"; kind: KindName; merchant: string; id: string; status: string }
  | { do: "window"; merchant: string; limit?: number; remaining: number; resetIn?: string }
  | { do: "arm"; rule: Given }
  | { do: "disarm" }
  | { do: "advance"; by: string }
  | { do: "set"; now: number }
  | { do: "thaw"; now: number }
  | { do: "replay"; event: Event }
  | { do: "replay attempt"; attempt: Attempt }
  | { do: "enable"; merchant: string; endpoint: string };

/** What comes of it: a status, and the body where the model has an opinion on all of it. */
export interface Outcome {
  status: number;
  code?: string;
  body?: unknown;
}

/** The steps of a deed over HTTP, one after the other. */
export interface Send {
  method: string;
  path: string;
  body?: unknown;
}

export function sends(deed: Deed): Send[] {
  const iso = (time: number) => new Date(time).toISOString();
  switch (deed.do) {
    case "reset":
      return [{ method: "POST", path: "/reset", body: deed.merchant === undefined ? {} : { merchant: deed.merchant } }];
    case "save":
      return [{ method: "PUT", path: "/snapshots/model" }];
    case "restore":
      return [{ method: "POST", path: "/snapshots/model/restore", body: {} }];
    case "mint":
      return [{ method: "POST", path: "/merchants", body: { fixture: deed.fixture } }];
    case "remove":
      return [{ method: "DELETE", path: `/merchants/${deed.merchant}` }];
    case "record": {
      const { merchant, status } = deed;
      return [{ method: "POST", path: `/records/${deed.kind}`, body: { merchant, ...(status === undefined ? {} : { status }) } }];
    }
    case "move": {
      const { merchant, status } = deed;
      return [{ method: "PATCH", path: `/records/${deed.kind}/${deed.id}`, body: { merchant, status } }];
    }
    case "window": {
      const { do: _, merchant, ...body } = deed;
      return [{ method: "PUT", path: `/rate-limits/${merchant}`, body }];
    }
    case "arm":
      return [{ method: "POST", path: "/faults", body: deed.rule }];
    case "disarm":
      return [{ method: "DELETE", path: "/faults" }];
    case "advance":
      return [{ method: "POST", path: "/clock/advance", body: { by: deed.by } }];
    case "set":
      return [{ method: "PUT", path: "/clock", body: { mode: "frozen", now: iso(deed.now) } }];
    case "thaw":
      return [
        { method: "PUT", path: "/clock", body: { mode: "offset" } },
        { method: "PUT", path: "/clock", body: { mode: "frozen", now: iso(deed.now) } },
      ];
    case "replay":
      return [{ method: "POST", path: `/events/${deed.event.id}/replay`, body: {} }];
    case "replay attempt":
      return [{ method: "POST", path: `/deliveries/${deed.attempt.id}/replay`, body: {} }];
    case "enable":
      return [{ method: "POST", path: `/endpoints/${deed.endpoint}/enable`, body: {} }];
  }
}

/** Does it in the model. What the service chose is taken from `told`, its last answer. */
export function steer(world: World, deed: Deed, told: unknown): Outcome {
  try {
    return carryOut(world, deed, (told ?? {}) as Fields);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const statuses: Record<string, number> = { resource_not_found: 404, invalid_state: 409, already_exists: 409 };
    return { status: statuses[error.code] ?? 400, code: error.code };
  }
}

function carryOut(world: World, deed: Deed, told: Fields): Outcome {
  switch (deed.do) {
    case "reset":
      reset(world, deed.merchant);
      return { status: 200, body: { reset: deed.merchant ?? "everything" } };
    case "save":
      world.saved = kept(world);
      return { status: 200 };
    case "restore":
      Object.assign(world, kept(world.saved ?? refuse("resource_not_found")));
      restart(world);
      return { status: 200, body: { restored: "model" } };
    case "mint": {
      const id = String(told.merchant);
      if (world.merchants.has(id)) return { status: 201, body: `another merchant than ${id}, who was there before` };
      const fixture = fixtures.find(({ name }) => name === deed.fixture) ?? refuse("validation_failed");
      settle(world, fixture, id, fixture.merchant.email.replace("@", `+${id.slice("mer_".length)}@`), String(told.apiKey));
      return { status: 201 };
    }
    case "remove":
      if (!world.merchants.has(deed.merchant)) refuse("resource_not_found");
      forget(world, deed.merchant);
      return { status: 200, body: { removed: deed.merchant } };
    case "record":
      return makeRecord(world, merchantOf(world, deed.merchant), deed.kind, deed.status, told);
    case "move":
      return moveRecord(world, merchantOf(world, deed.merchant), deed.kind, deed.id, deed.status);
    case "window": {
      const window = windowOf(world, deed.merchant);
      if (deed.remaining > (deed.limit ?? window.limit)) refuse("validation_failed");
      window.limit = deed.limit ?? window.limit;
      window.used = window.limit - deed.remaining;
      if (deed.resetIn !== undefined) window.end = world.now + span(deed.resetIn);
      return { status: 200 };
    }
    case "arm":
      arm(world, deed.rule);
      return { status: 201 };
    case "disarm": {
      const removed = world.faults.length;
      world.faults = [];
      return { status: 200, body: { removed } };
    }
    case "advance":
      return { status: 200 };
    case "set":
    case "thaw":
      world.now = deed.now;
      return { status: 200, body: { mode: "frozen", now: new Date(deed.now).toISOString(), unix: secondsOf(deed.now) } };
    case "replay": {
      const merchant = merchantOf(world, deed.event.merchant);
      for (const endpoint of wanting(merchant, deed.event.type)) oweAgain(world, merchant, deed.event, endpoint);
      return { status: 202 };
    }
    case "replay attempt": {
      const { event, endpoint } = deed.attempt.delivery;
      const merchant = merchantOf(world, event.merchant);
      const to = recordsOf(merchant, "webhook_endpoint").find(({ id }) => id === endpoint);
      if (to?.status !== "enabled") refuse("invalid_state");
      oweAgain(world, merchant, event, endpoint);
      return { status: 202 };
    }
    case "enable": {
      const merchant = merchantOf(world, deed.merchant);
      const found = recordsOf(merchant, "webhook_endpoint").find(({ id }) => id === deed.endpoint) ?? refuse("resource_not_found");
      found.status = "enabled";
      endpointOf(merchant, deed.endpoint).disabledReason = null;
      return { status: 200, body: { enabled: deed.endpoint } };
    }
  }
}

/** What follows in time from a deed, or from a call: answers the attempts that were made. */
export const follow = (world: World, deed?: Deed): Attempt[] =>
  deed?.do === "advance" ? advance(world, world.now + span(deed.by)) : happen(world);

/** Back to the fixtures: everything, or one merchant that came from one. */
function reset(world: World, id: string | undefined): void {
  if (id === undefined) {
    fillWithFixtures(world);
    return;
  }
  const { origin } = world.merchants.get(id) ?? refuse("resource_not_found");
  const { fixture, email, key } = origin ?? refuse("validation_failed");
  forget(world, id);
  settle(world, fixture, id, email, key);
}

/** Windows and fault rules are kept in memory; all else is on disk. The clock goes on from where it was. */
export function restart(world: World): void {
  world.windows.clear();
  world.faults = [];
}

function makeRecord(world: World, merchant: Merchant, kind: KindName, status: string | undefined, told: Fields): Outcome {
  const id = String(told.id);
  const record = compose(kind, merchant.id, secondsOf(world.now), { id, ...(status === undefined ? {} : { status }) });
  if (!new RegExp(`^${kinds[kind].prefix}_[0-9A-Za-z]{16}$`).test(id)) return { status: 201, body: record };
  recordsOf(merchant, kind).push(record);
  arrive(world, merchant, kind, record);
  return { status: 201, body: structuredClone(record) };
}

function moveRecord(world: World, merchant: Merchant, kind: KindName, id: string, status: string): Outcome {
  const record = recordsOf(merchant, kind).find((one) => one.id === id) ?? refuse("resource_not_found");
  const tells: Record<string, string> = kinds[kind].tells;
  if (record.status !== status) move(world, merchant, kind, record, status);
  else if (tells.updated) emit(world, merchant, tells.updated, record);
  return { status: 200, body: structuredClone(record) };
}

function oweAgain(world: World, merchant: Merchant, event: Event, endpoint: string): void {
  const owed: Delivery = {
    order: world.orders++,
    event,
    endpoint,
    trigger: "replay",
    state: "pending",
    allowed: 1,
    attempts: 0,
    due: world.now,
    decided: undefined,
    isCopy: false,
  };
  merchant.deliveries.push(owed);
}
