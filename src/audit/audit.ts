// Audits a webhook receiver: sends all probes to it, one after another, and collects its responses.

import type { WebhookRequest } from "../contracts/webhook.ts";
import { createClock, isFarFromMachine, isoTime } from "../kernel/clock.ts";
import { fail } from "../kernel/errors.ts";
import type { Receiver } from "../store/webhooks/deliveries.ts";
import type { Outcome } from "../webhooks/http/outcome.ts";
import type { WebhookEvent } from "../webhooks/webhook-request.ts";
import { effectProbes, restartProbe } from "./effect-probes.ts";
import { createEffectCounts, type EffectCounts, type ExpectedCount } from "./effects.ts";
import { type Audit, conclude, describe, isUnreachable, type OtherSecret } from "./probe-verdicts.ts";
import { isAccepted, isRejected, oldEventProbe, type Probe, probes } from "./probes.ts";
import {
  createTestDeliveries,
  type EventTemplate,
  type TestDeliveries,
  type TestDelivery,
  type TestDeliveryOptions,
} from "./test-deliveries.ts";

export interface AuditDependencies extends TestDeliveryOptions {
  /** Throws if the URL is not an allowed target. */
  checkTarget(url: string): void;
  buildRequest(event: WebhookEvent, receiver: Pick<Receiver, "url" | "secret">): WebhookRequest;
  send(request: WebhookRequest): Promise<Outcome>;
  /** The secret of the endpoint registered at a URL. */
  secretOf(url: string): string | undefined;
  /** Other secrets that the receiver may have by mistake. */
  otherSecrets(url: string, secret: string): readonly OtherSecret[];
  /** The events of the probes. */
  template: EventTemplate;
}

export interface AuditInput {
  url: string;
  secret: string | undefined;
  /** The number of the audit in this sandbox, so that each audit sends different events. */
  run: number;
  /** How often the receiver has acted so far. If unknown, the audit does not check whether the receiver acts once. */
  effects?: number;
  /** The maximum age that the receiver allows for an event, such as 3d (default: unknown). */
  maxAge?: string | undefined;
  /** Whether the caller can restart the receiver. */
  canRestart?: boolean;
  /** Whether the caller chose the type of the events, so that the receiver must act on them. */
  isEventChosen?: boolean;
}

/** An audit waits for a restart of the receiver, or until the count of its effects no longer changes. */
export type AuditStep =
  | { do: "restart"; probe: string }
  | ({ do: "count" } & ExpectedCount)
  /** The last count, which shows late work. */
  | ({ do: "wait and count" } & ExpectedCount);

const SIGNATURE = "X-Webhook-Signature";
export type RunningAudit = ReturnType<typeof auditReceiver>;

/** Runs an audit in steps. If effects are counted, it pauses after each probe until it is passed the new count. */
export async function* auditReceiver(
  deps: AuditDependencies,
  input: AuditInput,
): AsyncGenerator<AuditStep, Audit, number> {
  const { url, run, effects, maxAge } = input;
  deps.checkTarget(url);
  const secret = input.secret ?? deps.secretOf(url) ?? failUnknownReceiver(url);
  const send = (delivery: TestDelivery) => deps.send(requestOf(deps, delivery, url, secret));
  const counts = effects === undefined ? undefined : createEffectCounts(effects, input.isEventChosen === true);
  const basic = probes.map((probe) => (probe.id === "old_event" ? oldEventProbe(maxAge) : probe));
  const tried = counts ? [...basic, ...effectProbes, ...(input.canRestart ? [restartProbe] : [])] : basic;
  const { deliveries, first, note } = await sendGenuine(deps, secret, run, send);
  const outcomes = new Map<Probe, readonly Outcome[]>();
  let downSince: string | undefined;
  for (const probe of tried) {
    if (probe !== probes[0] && (downSince !== undefined || !isWorthTrying(probe, first))) continue;
    const found = probe === probes[0] ? first : yield* sendAll(probe, deliveries, send, counts !== undefined);
    outcomes.set(probe, found);
    if (probe !== probes[0] && (await isDown(found, () => send(unsigned(deliveries.genuine()))))) downSince = probe.id;
    if (counts) counts.settled(probe, yield { do: "count", ...counts.expected(probe, found) });
  }
  const late = counts && (yield* countLate(counts));
  const verifiesWith = first.some(isRejected) ? await findSecret(deps, input, secret) : undefined;
  const type = deps.template.type;
  const observed = { outcomes, first, note, downSince, late, ...(counts && { counts }) };
  return conclude({ url, tried, ...observed, type, verifiesWith });
}

/** Whether the receiver still refuses connections. Asks with an unsigned event, which must have no effect. */
const isDown = async (outcomes: readonly Outcome[], ask: () => Promise<Outcome>): Promise<boolean> =>
  outcomes.at(-1)?.errorCode === "connection_refused" && isUnreachable(await ask());

const unsigned = ({ signature: _, ...delivery }: TestDelivery): TestDelivery => ({ ...delivery, signature: undefined });

/**
 * Sends genuine events, each signed with one of the other secrets, and returns the secret that the receiver accepts.
 * Also tries the machine's time, because the receiver may reject events of the sandbox clock as too old.
 */
async function findSecret(
  deps: AuditDependencies,
  { url, run }: AuditInput,
  secret: string,
): Promise<OtherSecret | undefined> {
  const machine = createClock();
  const clocks = isFarFromMachine(deps.clock.now()) ? [deps.clock, machine] : [deps.clock];
  for (const other of deps.otherSecrets(url, secret))
    for (const clock of clocks) {
      const make = createTestDeliveries({ ...deps, clock }, other.secret, run, deps.template);
      if (isAccepted(await deps.send(requestOf(deps, make.genuine(), url, other.secret)))) return other;
    }
  return undefined;
}

/** The number of effects that came only after the last probe. */
async function* countLate(counts: EffectCounts): AsyncGenerator<AuditStep, number, number> {
  const last = counts.last();
  return (yield { do: "wait and count", probe: "all", atLeast: last, atMost: last }) - last;
}

/** Runs an audit whose caller cannot count effects. */
export async function auditWithoutEffects(deps: AuditDependencies, input: Omit<AuditInput, "effects">): Promise<Audit> {
  const step = await auditReceiver(deps, input).next(0);
  if (!step.done) throw new Error("An audit that counts no effects has waited for a count.");
  return step.value;
}

/**
 * Sends the first probe. If the receiver rejects it and sandbox time differs from machine time, sends it again with
 * machine time, because receivers may reject old events. If that succeeds, all other probes use machine time too.
 */
async function sendGenuine(
  deps: AuditDependencies,
  secret: string,
  run: number,
  send: (delivery: TestDelivery) => Promise<Outcome>,
) {
  const [genuine] = probes;
  const sendTo = (made: TestDeliveries) => sendInTurn(genuine.deliveries(made), send);
  const deliveries = createTestDeliveries(deps, secret, run, deps.template);
  const first = await sendTo(deliveries);
  const machine = createClock();
  if (!first.some(isRejected) || !isFarFromMachine(deps.clock.now())) return { deliveries, first, note: "" };
  const present = createTestDeliveries({ ...deps, clock: machine }, secret, run, deps.template);
  const second = await sendTo(present);
  if (!second.every(isAccepted)) return { deliveries, first, note: "" };
  const note =
    `, when its \`created\` was the machine's time; ` +
    `with the time of the sandbox clock, ${isoTime(deps.clock.now())}, it was rejected (${describe(first)})`;
  return { deliveries: present, first: second, note };
}

function failUnknownReceiver(url: string): never {
  return fail(
    "resource_not_found",
    `No endpoint is registered at ${url}: pass its receiver's secret, as in \`--secret whsec_...\`.`,
  );
}

function requestOf(
  deps: AuditDependencies,
  { signature, transport, ...event }: TestDelivery,
  url: string,
  secret: string,
): WebhookRequest {
  const { headers, ...request } = deps.buildRequest(event, { url, secret });
  const { [SIGNATURE]: _, ...unsigned } = headers;
  return {
    ...request,
    headers: signature === undefined ? unsigned : { ...unsigned, [SIGNATURE]: signature },
    ...(transport && { transport }),
  };
}

async function sendInTurn(
  deliveries: readonly TestDelivery[],
  send: (delivery: TestDelivery) => Promise<Outcome>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const delivery of deliveries) outcomes.push(await send(delivery));
  return outcomes;
}

const MAX_TRIES = 5;

/**
 * Sends the deliveries of a probe. If effects are counted, deliveries of a burst that are not accepted are sent again.
 */
async function* sendAll(
  probe: Probe,
  make: TestDeliveries,
  send: (delivery: TestDelivery) => Promise<Outcome>,
  isCounted: boolean,
): AsyncGenerator<AuditStep, Outcome[], number> {
  const deliveries = probe.deliveries(make);
  const retried = async (delivery: TestDelivery, outcome: Outcome) => {
    let last = outcome;
    for (let tries = 1; tries < MAX_TRIES && !isAccepted(last); tries++) last = await send(delivery);
    return last;
  };
  const outcomes: Outcome[] = probe.isBurst ? await Promise.all(deliveries.map(send)) : [];
  if (probe.isBurst && !isCounted) return outcomes;
  for (const [index, delivery] of deliveries.entries()) {
    if (probe.restartsBefore === index) yield { do: "restart", probe: probe.id };
    const outcome = outcomes[index] ?? (await send(delivery));
    outcomes[index] = probe.isRetried || probe.isBurst ? await retried(delivery, outcome) : outcome;
  }
  return outcomes;
}

/**
 * Whether to send a probe after these responses to the first one. If the receiver rejected a genuine event, only two
 * kinds are worth sending: forgeries, because accepting one still counts, and probes that show why it was rejected.
 */
const isWorthTrying = ({ isForgery, isTriedAlways }: Probe, first: readonly Outcome[]) =>
  first.every(isAccepted) ||
  isTriedAlways === true ||
  (isForgery === true && first.some(({ responseStatus }) => responseStatus !== null));
