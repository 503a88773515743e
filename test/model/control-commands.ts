// Control API commands: how each is sent and what it does to the model; and the effect of a restart.

import { ApiError, arriveNew, emit, refuse, subscribedEndpoints, transition } from "./call.ts";
import { advance, deliverDue } from "./deliveries.ts";
import { arm, type FaultRuleInput, span } from "./faults.ts";
import { type Fields, type KindName, kinds } from "./record-kinds.ts";
import { endpointOf } from "./webhooks.ts";
import {
  type Attempt,
  addFixtureMerchant,
  buildRecord,
  type Delivery,
  type Event,
  fillWithFixtures,
  fixtures,
  type Merchant,
  merchantOf,
  recordsOf,
  removeMerchant,
  secondsOf,
  snapshotOf,
  type World,
  windowOf,
} from "./world.ts";

/** A command sent to the control API. */
export type ControlCommand =
  | { do: "reset"; merchant?: string }
  | { do: "save" }
  | { do: "restore" }
  | { do: "mint"; fixture: string }
  | { do: "remove"; merchant: string }
  | { do: "record"; kind: KindName; merchant: string; status: string | undefined }
  | { do: "move"; kind: KindName; merchant: string; id: string; status: string }
  | { do: "window"; merchant: string; limit?: number; remaining: number; resetIn?: string }
  | { do: "arm"; rule: FaultRuleInput }
  | { do: "disarm" }
  | { do: "advance"; by: string }
  | { do: "set"; now: number }
  | { do: "thaw"; now: number }
  | { do: "replay"; event: Event }
  | { do: "replay attempt"; attempt: Attempt }
  | { do: "enable"; merchant: string; endpoint: string };

/** Expected response; `body` only where the model predicts all of it. */
export interface Outcome {
  status: number;
  code?: string;
  body?: unknown;
}

/** One HTTP request of a command; most commands need one. */
export interface ControlRequest {
  method: string;
  path: string;
  body?: unknown;
}

export function controlRequests(command: ControlCommand): ControlRequest[] {
  const iso = (time: number) => new Date(time).toISOString();
  switch (command.do) {
    case "reset":
      return [{ method: "POST", path: "/reset", body: command.merchant === undefined ? {} : { merchant: command.merchant } }];
    case "save":
      return [{ method: "PUT", path: "/snapshots/model" }];
    case "restore":
      return [{ method: "POST", path: "/snapshots/model/restore", body: {} }];
    case "mint":
      return [{ method: "POST", path: "/merchants", body: { fixture: command.fixture } }];
    case "remove":
      return [{ method: "DELETE", path: `/merchants/${command.merchant}` }];
    case "record": {
      const { kind, merchant, status } = command;
      return [
        { method: "POST", path: `/records/${kind}`, body: { merchant, ...madeFields(kind), ...(status === undefined ? {} : { status }) } },
      ];
    }
    case "move": {
      const { merchant, status } = command;
      return [{ method: "PATCH", path: `/records/${command.kind}/${command.id}`, body: { merchant, status } }];
    }
    case "window": {
      const { do: _, merchant, ...body } = command;
      return [{ method: "PUT", path: `/rate-limits/${merchant}`, body }];
    }
    case "arm":
      return [{ method: "POST", path: "/faults", body: command.rule }];
    case "disarm":
      return [{ method: "DELETE", path: "/faults" }];
    case "advance":
      return [{ method: "POST", path: "/clock/advance", body: { by: command.by } }];
    case "set":
      return [{ method: "PUT", path: "/clock", body: { mode: "frozen", now: iso(command.now) } }];
    case "thaw":
      return [
        { method: "PUT", path: "/clock", body: { mode: "offset" } },
        { method: "PUT", path: "/clock", body: { mode: "frozen", now: iso(command.now) } },
      ];
    case "replay":
      return [{ method: "POST", path: `/events/${command.event.id}/replay`, body: {} }];
    case "replay attempt":
      return [{ method: "POST", path: `/deliveries/${command.attempt.id}/replay`, body: {} }];
    case "enable":
      return [{ method: "POST", path: `/endpoints/${command.endpoint}/enable`, body: {} }];
  }
}

/** Applies a command to the model. `observed` is the body of its last response. */
export function applyControlCommand(world: World, command: ControlCommand, observed: unknown): Outcome {
  try {
    return carryOut(world, command, (observed ?? {}) as Fields);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const statuses: Record<string, number> = { resource_not_found: 404, invalid_state: 409, already_exists: 409 };
    return { status: statuses[error.code] ?? 400, code: error.code };
  }
}

function carryOut(world: World, command: ControlCommand, observed: Fields): Outcome {
  switch (command.do) {
    case "reset":
      reset(world, command.merchant);
      return { status: 200, body: { reset: command.merchant ?? "everything" } };
    case "save":
      world.saved = snapshotOf(world);
      return { status: 200 };
    case "restore":
      Object.assign(world, snapshotOf(world.saved ?? refuse("resource_not_found")));
      restart(world);
      return { status: 200, body: { restored: "model" } };
    case "mint": {
      const id = String(observed.merchant);
      if (world.merchants.has(id)) return { status: 201, body: `another merchant than ${id}, who was there before` };
      const fixture = fixtures.find(({ name }) => name === command.fixture) ?? refuse("validation_failed");
      addFixtureMerchant(world, fixture, id, fixture.merchant.email.replace("@", `+${id.slice("mer_".length)}@`), String(observed.apiKey));
      return { status: 201 };
    }
    case "remove":
      if (!world.merchants.has(command.merchant)) refuse("resource_not_found");
      removeMerchant(world, command.merchant);
      return { status: 200, body: { removed: command.merchant } };
    case "record":
      return makeRecord(world, merchantOf(world, command.merchant), command.kind, command.status, observed);
    case "move":
      return moveRecord(world, merchantOf(world, command.merchant), command.kind, command.id, command.status);
    case "window": {
      const window = windowOf(world, command.merchant);
      if (command.remaining > (command.limit ?? window.limit)) refuse("validation_failed");
      window.limit = command.limit ?? window.limit;
      window.used = window.limit - command.remaining;
      if (command.resetIn !== undefined) window.end = world.now + span(command.resetIn);
      return { status: 200 };
    }
    case "arm":
      arm(world, command.rule);
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
      world.now = command.now;
      return { status: 200, body: { mode: "frozen", now: new Date(command.now).toISOString(), unix: secondsOf(command.now) } };
    case "replay": {
      const merchant = merchantOf(world, command.event.merchant);
      for (const endpoint of subscribedEndpoints(merchant, command.event.type)) enqueueReplay(world, merchant, command.event, endpoint);
      return { status: 202 };
    }
    case "replay attempt": {
      const { event, endpoint } = command.attempt.delivery;
      const merchant = merchantOf(world, event.merchant);
      const to = recordsOf(merchant, "webhook_endpoint").find(({ id }) => id === endpoint);
      if (to?.status !== "enabled") refuse("invalid_state");
      enqueueReplay(world, merchant, event, endpoint);
      return { status: 202 };
    }
    case "enable": {
      const merchant = merchantOf(world, command.merchant);
      const found = recordsOf(merchant, "webhook_endpoint").find(({ id }) => id === command.endpoint) ?? refuse("resource_not_found");
      found.status = "enabled";
      endpointOf(merchant, command.endpoint).disabledReason = null;
      return { status: 200, body: { enabled: command.endpoint } };
    }
  }
}

/** Delivers what is due after a command or call, and returns the attempts made. */
export const deliverAfter = (world: World, command?: ControlCommand): Attempt[] =>
  command?.do === "advance" ? advance(world, world.now + span(command.by)) : deliverDue(world);

/** Resets everything, or one merchant that came from a fixture, to the fixtures. */
function reset(world: World, id: string | undefined): void {
  if (id === undefined) {
    fillWithFixtures(world);
    return;
  }
  const { origin } = world.merchants.get(id) ?? refuse("resource_not_found");
  const { fixture, email, key } = origin ?? refuse("validation_failed");
  removeMerchant(world, id);
  addFixtureMerchant(world, fixture, id, email, key);
}

/** Windows and fault rules are in memory and lost; everything else is on disk. The clock continues. */
export function restart(world: World): void {
  world.windows.clear();
  world.faults = [];
}

/** The fields that a record is made with: all of them, because the sandbox completes what is left out from a sample. */
function madeFields(kind: KindName): Fields {
  if (kind === "customer") return { name: "Ana", email: "ana@mail.example", phone: "+351 900 000 000" };
  // A payout without an amount would contain the payments that no other payout contains.
  const payout = kind === "payout" ? { amount: 4_200, currency: "EUR", arrivalDate: "2026-02-02" } : {};
  // The last two follow from payouts: no caller sets them.
  const { status, recordsFailed, payoutId, paidOutAmount, ...fields }: Fields = kinds[kind].defaults;
  return { ...fields, ...payout };
}

function makeRecord(world: World, merchant: Merchant, kind: KindName, status: string | undefined, observed: Fields): Outcome {
  const id = String(observed.id);
  const fields = { ...madeFields(kind), id, ...(status === undefined ? {} : { status }) };
  const record = buildRecord(kind, merchant.id, secondsOf(world.now), fields);
  if (!new RegExp(`^${kinds[kind].prefix}_[0-9A-Za-z]{16}$`).test(id)) return { status: 201, body: record };
  return { status: 201, body: structuredClone(arriveNew(world, merchant, kind, record)) };
}

function moveRecord(world: World, merchant: Merchant, kind: KindName, id: string, status: string): Outcome {
  const record = recordsOf(merchant, kind).find((one) => one.id === id) ?? refuse("resource_not_found");
  const emits: Record<string, string> = kinds[kind].emits;
  if (record.status !== status) transition(world, merchant, kind, record, status);
  else if (emits.updated) emit(world, merchant, emits.updated, record);
  return { status: 200, body: structuredClone(record) };
}

function enqueueReplay(world: World, merchant: Merchant, event: Event, endpoint: string): void {
  const owed: Delivery = {
    number: undefined,
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
