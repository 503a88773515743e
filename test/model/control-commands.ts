// Commands to the control API: how each is sent, and what it does to the model. Also the effect of a restart.

import {
  ANYTHING,
  ApiError,
  arriveNew,
  emit,
  enqueueDelivery,
  refuse,
  statusOf,
  subscribedEndpoints,
  transition,
} from "./call.ts";
import { advance, deliverDue } from "./deliveries.ts";
import { arm, type FaultRuleInput, span } from "./faults.ts";
import { type Fields, type KindName, kindOf } from "./record-kinds.ts";
import { endpointOf } from "./webhooks.ts";
import {
  type Attempt,
  addFixtureMerchant,
  buildRecord,
  type Entry,
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

/** A command to the control API: how it is sent, and what it does to the model. */
export interface ControlCommand {
  requests: ControlRequest[];
  /** `observed` is the body of the last response. */
  apply(world: World, observed: Fields): Outcome;
  /** The milliseconds by which the command advances the clock. */
  advance?: number;
  /** Whether the command sets the clock. */
  setsClock?: boolean;
}

/** One HTTP request of a command; most commands need one. */
interface ControlRequest {
  method: string;
  path: string;
  body?: unknown;
}

/** The expected response. `body` is set only if the model predicts the whole body. */
export interface Outcome {
  status: number;
  code?: string;
  body?: unknown;
}

const post = (path: string, body: unknown = {}): ControlRequest => ({ method: "POST", path, body });

const put = (path: string, body?: unknown): ControlRequest => ({ method: "PUT", path, body });

const frozen = (now: number) => put("/clock", { mode: "frozen", now: new Date(now).toISOString() });

const setClock = (requests: ControlRequest[], now: number): ControlCommand => ({
  requests,
  setsClock: true,
  apply(world) {
    world.now = now;
    return { status: 200, body: { mode: "frozen", now: new Date(now).toISOString(), unix: secondsOf(now) } };
  },
});

export const controlCommands = {
  reset: (merchant?: string): ControlCommand => ({
    requests: [post("/reset", merchant === undefined ? {} : { merchant })],
    apply(world) {
      reset(world, merchant);
      const now = { mode: "frozen", now: new Date(world.now).toISOString(), unix: secondsOf(world.now) };
      const restored = { clock: merchant === undefined ? now : null, faults: [], scenarios: [], endpoints: [] };
      return { status: 200, body: { reset: merchant ?? "everything", ...restored } };
    },
  }),
  save: (): ControlCommand => ({
    requests: [put("/snapshots/model")],
    apply(world) {
      world.saved = snapshotOf(world);
      return { status: 200 };
    },
  }),
  restore: (): ControlCommand => ({
    requests: [post("/snapshots/model/restore")],
    apply(world) {
      const { started } = world;
      Object.assign(world, snapshotOf(world.saved ?? refuse("resource_not_found")));
      restart(world);
      // A reset still returns to the time at which the process started.
      world.started = started;
      return { status: 200, body: { restored: "model" } };
    },
  }),
  addMerchant: (fixtureName: string): ControlCommand => ({
    requests: [post("/merchants", { fixture: fixtureName })],
    apply(world, observed) {
      const id = String(observed.id);
      if (world.merchants.has(id)) return { status: 201, body: `a new merchant; ${id} exists already` };
      const fixture = fixtures.find(({ name }) => name === fixtureName) ?? refuse("validation_failed");
      addFixtureMerchant(
        world,
        fixture,
        id,
        fixture.merchant.email.replace("@", `+${id.slice("mer_".length)}@`),
        String(observed.apiKey),
      );
      return { status: 201 };
    },
  }),
  remove: (merchant: string): ControlCommand => ({
    requests: [{ method: "DELETE", path: `/merchants/${merchant}` }],
    apply(world) {
      const removed = world.merchants.get(merchant) ?? refuse("resource_not_found");
      removeMerchant(world, merchant);
      world.removed.push(removed);
      return { status: 200, body: { removed: merchant } };
    },
  }),
  record: (kind: KindName, merchant: string, status: string | undefined): ControlCommand => ({
    requests: [
      post(`/records/${kind}`, { merchant, ...madeFields(kind), ...(status === undefined ? {} : { status }) }),
    ],
    apply: (world, observed) => makeRecord(world, merchantOf(world, merchant), kind, status, observed),
  }),
  move: (kind: KindName, merchant: string, id: string, status: string): ControlCommand => ({
    requests: [{ method: "PATCH", path: `/records/${kind}/${id}`, body: { merchant, status } }],
    apply: (world) => moveRecord(world, merchantOf(world, merchant), kind, id, status),
  }),
  window: (
    merchant: string,
    body: { limit?: number; remaining: number; resetIn?: string | undefined },
  ): ControlCommand => ({
    requests: [put(`/rate-limits/${merchant}`, body)],
    apply(world) {
      const window = windowOf(world, merchant);
      if (body.remaining > (body.limit ?? window.limit)) refuse("validation_failed");
      window.limit = body.limit ?? window.limit;
      window.used = window.limit - body.remaining;
      if (body.resetIn !== undefined) window.end = world.now + span(body.resetIn);
      return { status: 200 };
    },
  }),
  arm: (rule: FaultRuleInput): ControlCommand => ({
    requests: [post("/faults", rule)],
    apply(world) {
      arm(world, rule);
      return { status: 201 };
    },
  }),
  disarm: (): ControlCommand => ({
    requests: [{ method: "DELETE", path: "/faults" }],
    apply(world) {
      const removed = world.faults.length;
      world.faults = [];
      return { status: 200, body: { removed } };
    },
  }),
  advance: (by: string): ControlCommand => ({
    requests: [post("/clock/advance", { by })],
    advance: span(by),
    apply: () => ({ status: 200 }),
  }),
  set: (now: number) => setClock([frozen(now)], now),
  thaw: (now: number) => setClock([put("/clock", { mode: "offset" }), frozen(now)], now),
  replay: (event: Event): ControlCommand => ({
    requests: [post(`/events/${event.id}/replay`)],
    apply(world) {
      const merchant = merchantOf(world, event.merchant);
      for (const endpoint of subscribedEndpoints(merchant, event.type)) enqueueReplay(world, merchant, event, endpoint);
      return { status: 202 };
    },
  }),
  replayAttempt: (attempt: Attempt): ControlCommand => ({
    requests: [post(`/deliveries/${attempt.id}/replay`)],
    apply(world) {
      const { event, endpoint } = attempt.delivery;
      const merchant = merchantOf(world, event.merchant);
      const to = recordsOf(merchant, "webhook_endpoint").find(({ id }) => id === endpoint);
      if (to?.status !== "enabled") refuse("invalid_state");
      enqueueReplay(world, merchant, event, endpoint);
      return { status: 202 };
    },
  }),
  enable: (owner: string, endpoint: string): ControlCommand => ({
    requests: [post(`/endpoints/${endpoint}/enable`)],
    apply(world) {
      const merchant = merchantOf(world, owner);
      const found =
        recordsOf(merchant, "webhook_endpoint").find(({ id }) => id === endpoint) ?? refuse("resource_not_found");
      found.status = "enabled";
      endpointOf(merchant, endpoint).disabledReason = null;
      return { status: 200, body: { enabled: endpoint } };
    },
  }),
};

/** Applies a command to the model. */
export function applyControlCommand(world: World, command: ControlCommand, observed: unknown): Outcome {
  try {
    return command.apply(world, (observed ?? {}) as Fields);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { status: statusOf(error.code), code: error.code };
  }
}

/** Delivers what is due after a command or call, and returns the attempts made. */
export const deliverAfter = (world: World, command?: ControlCommand): Attempt[] =>
  command?.advance === undefined ? deliverDue(world) : advance(world, world.now + command.advance);

/** Resets everything, including the clock, or only one merchant. The merchant must come from a fixture. */
function reset(world: World, id: string | undefined): void {
  if (id === undefined) {
    world.now = world.started;
    fillWithFixtures(world);
    return;
  }
  const { origin } = world.merchants.get(id) ?? refuse("resource_not_found");
  const { fixture, email, key } = origin ?? refuse("validation_failed");
  removeMerchant(world, id);
  addFixtureMerchant(world, fixture, id, email, key);
}

/** A restart loses rate-limit windows and fault rules, which are only in memory. Everything else stays. */
export function restart(world: World): void {
  world.started = world.now;
  world.windows.clear();
  world.faults = [];
}

/** All fields of a new record. The sandbox would generate missing fields, which the model cannot predict. */
function madeFields(kind: KindName): Fields {
  if (kind === "customer") return { name: "Ana", email: "ana@mail.example", phone: "+351 900 000 000" };
  // A payout without an amount would contain the payments that no other payout contains.
  const payout = kind === "payout" ? { amount: 4_200, currency: "EUR", arrivalDate: "2026-02-02" } : {};
  // The service sets these fields itself. It computes payoutId and paidOutAmount from payouts.
  const { status, livemode, recordsFailed, payoutId, paidOutAmount, ...fields } = kindOf(kind).defaults;
  return { ...fields, ...payout };
}

function makeRecord(
  world: World,
  merchant: Merchant,
  kind: KindName,
  status: string | undefined,
  observed: Fields,
): Outcome {
  const id = String(observed.id);
  const fields = { ...madeFields(kind), id, ...(status === undefined ? {} : { status }) };
  const record = buildRecord(kind, merchant.id, secondsOf(world.now), fields);
  if (!new RegExp(`^${kindOf(kind).prefix}_[0-9A-Za-z]{16}$`).test(id)) return { status: 201, body: record };
  return { status: 201, body: withWarnings(arriveNew(world, merchant, kind, record)) };
}

function moveRecord(world: World, merchant: Merchant, kind: KindName, id: string, status: string): Outcome {
  const record = recordsOf(merchant, kind).find((one) => one.id === id) ?? refuse("resource_not_found");
  const { updated } = kindOf(kind).events;
  if (record.status !== status) transition(world, merchant, kind, record, status);
  else if (updated) emit(world, merchant, updated, record);
  return { status: 200, body: withWarnings(record) };
}

/** A copy of the record, with any warnings. The model does not predict warnings about unlikely values. */
const withWarnings = (record: Entry) => Object.assign(structuredClone(record), { warnings: ANYTHING });

const enqueueReplay = (world: World, merchant: Merchant, event: Event, endpoint: string) =>
  enqueueDelivery(world, merchant, event, endpoint, "replay", 1);
