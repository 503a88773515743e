// Audits a webhook receiver: sends all probes to it, and reports the actual response, the expected one and the reason.

import type { Verdict } from "../contracts/verdict.ts";
import type { WebhookRequest } from "../contracts/webhook.ts";
import { type Clock, createClock, isoTime } from "../kernel/clock.ts";
import { fail } from "../kernel/errors.ts";
import { grouped } from "../kernel/grouped.ts";
import { VERIFY_RAW_BYTES } from "../kernel/json-forms.ts";
import type { Receiver } from "../store/webhooks/deliveries.ts";
import type { Outcome } from "../webhooks/http/outcome.ts";
import type { WebhookEvent } from "../webhooks/webhook-request.ts";
import { effectProbes, restartProbe } from "./effect-probes.ts";
import { createEffectCounts, type EffectFinding, type ExpectedCount } from "./effects.ts";
import { isAccepted, isRejected, oldEventProbe, type Probe, probes } from "./probes.ts";
import {
  createTestDeliveries,
  type EventTemplate,
  type TestDeliveries,
  type TestDelivery,
  type TestDeliveryOptions,
} from "./test-deliveries.ts";

export type Audit = ReturnType<typeof conclude>;

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

export interface OtherSecret {
  secret: string;
  /** Completes "The receiver verifies with". */
  what: string;
}

export interface AuditInput {
  url: string;
  secret: string | undefined;
  /** The number of the audit in this sandbox, so that each audit sends different events. */
  run: number;
  /** How often the receiver has acted so far (default: unknown, so whether it acts once is not checked). */
  effects?: number;
  /** The highest age of an event that the receiver allows, such as 3d (default: unknown). */
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
  /** The last count: work that came late shows in it. */
  | ({ do: "wait and count" } & ExpectedCount);

const SIGNATURE = "X-Webhook-Signature";
/** Real milliseconds in which a receiver should respond. */
const MAX_RESPONSE_TIME = 5_000;

export type RunningAudit = ReturnType<typeof auditReceiver>;

/** An audit in steps. With a count of effects, it pauses after each probe; pass it the new count to continue. */
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

/** Asks again with an event that has no effect: a receiver that restarts may be back. */
const isDown = async (outcomes: readonly Outcome[], ask: () => Promise<Outcome>): Promise<boolean> =>
  outcomes.at(-1)?.errorCode === "connection_refused" && isUnreachable(await ask());

const unsigned = ({ signature: _, ...delivery }: TestDelivery): TestDelivery => ({ ...delivery, signature: undefined });

/**
 * Sends a genuine event signed with each other secret, and returns the one that the receiver accepts. It may reject
 * events of the sandbox clock as too old, so the machine's time is tried too.
 */
async function findSecret(
  deps: AuditDependencies,
  { url, run }: AuditInput,
  secret: string,
): Promise<OtherSecret | undefined> {
  const machine = createClock();
  const clocks = isFarFrom(deps.clock, machine) ? [deps.clock, machine] : [deps.clock];
  for (const other of deps.otherSecrets(url, secret))
    for (const clock of clocks) {
      const make = createTestDeliveries({ ...deps, clock }, other.secret, run, deps.template);
      if (isAccepted(await deps.send(requestOf(deps, make.genuine(), url, other.secret)))) return other;
    }
  return undefined;
}

type EffectCounts = ReturnType<typeof createEffectCounts>;

/** Effects that came after the probe that caused them. */
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

interface Evidence {
  url: string;
  tried: readonly Probe[];
  outcomes: ReadonlyMap<Probe, readonly Outcome[]>;
  first: readonly Outcome[];
  note: string;
  /** The probe after which nothing listened any more. */
  downSince: string | undefined;
  counts?: EffectCounts;
  late: number | undefined;
  /** The type of the events. */
  type: string;
  /** The secret that the receiver has in the place of the right one, if it is known. */
  verifiesWith: OtherSecret | undefined;
}

function conclude(evidence: Evidence) {
  const { url, tried, outcomes, first, note, downSince, counts, late = 0, type, verifiesWith } = evidence;
  const forgedOutcomes = (probe: Probe) => judgedOutcomes(probe, outcomes.get(probe) ?? []);
  const forgery = tried.filter(({ isForgery }) => isForgery);
  const verifies = forgery.every((probe) => forgedOutcomes(probe).every(isRejected));
  const badlySigned = tried.find(({ id }) => id === "bad_signature");
  const forged = (badlySigned && outcomes.get(badlySigned)) ?? [];
  const results = tried.map((probe) => {
    const found = outcomes.get(probe);
    const byResponse = judge(probe, found, { first, forged, verifies, downSince });
    return withEffects(byResponse, found && counts?.judge(probe, found, type));
  });
  const [genuine] = results;
  if (genuine) genuine.did += note;
  const isRawBytes = results.some(({ probe, why }) => probe === "raw_bytes" && why === VERIFY_RAW_BYTES);
  if (genuine && first.some(isUnverified)) genuine.why = whyUnverified(verifiesWith, isRawBytes);
  results.push(...(counts ? lateResults(late) : [unchecked()]));
  // An old event that was accepted is no mistake against the document of the service, so it does not count here.
  const decisive = results.filter(({ probe, verdict }) => probe !== "old_event" || verdict !== "inconclusive");
  const verdict: Verdict =
    (["fail", "inconclusive"] as const).find((worst) => decisive.some((result) => result.verdict === worst)) ?? "pass";
  /** Whether the receiver accepted a request that was not signed with its secret. */
  const forgeryAccepted = forgery.some((probe) => forgedOutcomes(probe).some(isAccepted));
  return { url, verdict, forgeryAccepted, probes: results };
}

/** Whether the status says that the signature did not match. */
const isUnverified = ({ responseStatus }: Outcome) => responseStatus === 401 || responseStatus === 403;

/** The first suspect of a rejected genuine event is the secret. */
function whyUnverified(verifiesWith: OtherSecret | undefined, isRawBytes: boolean): string {
  if (verifiesWith) return `The receiver verifies with ${verifiesWith.what}: give it the endpoint's own, as it is.`;
  if (isRawBytes) return VERIFY_RAW_BYTES;
  return (
    "Check the secret first: the receiver must have the one of this endpoint, whole, with its whsec_, as it is since " +
    "its last rotation; without --secret, the audit signs with that one. It has none of the other secrets that the " +
    "sandbox knows."
  );
}

type ProbeResult = ReturnType<typeof judge>;

/** The worse of the two verdicts. */
function withEffects(result: ProbeResult, effects: EffectFinding | undefined): ProbeResult {
  if (!effects) return result;
  const did = `${result.did}; ${effects.did}`;
  if (effects.verdict === "pass" || result.verdict === "fail") return { ...result, did };
  return { ...result, did, verdict: effects.verdict, why: effects.why ?? result.why };
}

/** Reported instead of the probes that need a count of effects. */
const unchecked = (): ProbeResult => ({
  probe: "acts_once",
  verdict: "inconclusive",
  sent: "nothing",
  did: "not checked: whether it acted once",
  should: "act once on each event, however often it arrives",
  why:
    "A response does not show what the receiver did. Pass a command that prints how often it has acted, as in " +
    "`--effects 'psql -tc \"select count(*) from orders\"'`, or in TypeScript `effects: () => count()`.",
});

const lateResults = (late: number): ProbeResult[] =>
  late === 0
    ? []
    : [
        {
          probe: "late_effects",
          verdict: "fail",
          sent: "nothing more",
          did: `the count changed by ${late} after the last probe`,
          should: "have done all its work",
          why:
            "Work that comes late belongs to an event that was counted already. " +
            "If something else changes the count, audit the receiver alone.",
        },
      ];

/**
 * Milliseconds. With a larger difference between sandbox time and machine time, a receiver may reject events as too
 * old.
 */
const CLOSE_ENOUGH = 60_000;

const isFarFrom = (one: Clock, other: Clock) => Math.abs(one.now() - other.now()) >= CLOSE_ENOUGH;

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
  if (!first.some(isRejected) || !isFarFrom(deps.clock, machine)) return { deliveries, first, note: "" };
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

/** `isCounted`: the caller counts effects, so a burst is sent until all of it was accepted. */
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
 * If the receiver rejects a genuine event, rejected forgeries prove nothing, so only forgeries are sent: an accepted
 * one still counts. So is the probe that can show why.
 */
const isWorthTrying = ({ isForgery, isTriedAlways }: Probe, first: readonly Outcome[]) =>
  first.every(isAccepted) ||
  isTriedAlways === true ||
  (isForgery === true && first.some(({ responseStatus }) => responseStatus !== null));

const judgedOutcomes = ({ judged }: Probe, outcomes: readonly Outcome[]) => judged?.(outcomes) ?? outcomes;

interface OtherOutcomes {
  /** The outcomes of the first probe, a genuine event. */
  first: readonly Outcome[];
  /** The outcomes of events with a bad signature. */
  forged: readonly Outcome[];
  /** Whether the receiver rejected every forgery. */
  verifies: boolean;
  downSince: string | undefined;
}

function judge(probe: Probe, outcomes: readonly Outcome[] | undefined, others: OtherOutcomes) {
  const { first, forged, verifies, downSince } = others;
  const { id, sent, should, expected } = probe;
  const why = probe.explains?.(outcomes ?? [], forged) ?? probe.why;
  const result = (verdict: Verdict, did: string) => ({ probe: id, verdict, sent, did, should, why });
  if (!outcomes && downSince !== undefined)
    return result("inconclusive", `was not tried: the receiver has been down since ${downSince}`);
  if (!outcomes) return result("inconclusive", "was not tried: a genuine event was not accepted either");
  const judged = judgedOutcomes(probe, outcomes);
  const waiting = probe.isBurst ? judged.filter(isStillWaiting).length : 0;
  const did =
    describe(judged) +
    (waiting > 0 ? ` (${waiting} of ${judged.length} connections waited in the system's listen backlog)` : "");
  const isFirstRejected = !first.every(isAccepted);
  if (probe.isTriedAlways && isFirstRejected && !judged.some(isAccepted))
    return result("inconclusive", `${did}, as it did to a genuine event`);
  if (expected === "accepted") return result(judgeAcceptance(probe, judged), did);
  if (expected === "either")
    return result(judged.every(isRejected) || (verifies && judged.every(isAccepted)) ? "pass" : "fail", did);
  const isAnyAccepted = judged.some(isAccepted);
  if (probe.unchecked !== undefined && judged.every(isAccepted))
    return result("inconclusive", `${did}; not checked: ${probe.unchecked}`);
  if (!isAnyAccepted && isFirstRejected) return result("inconclusive", `${did}, as it did to a genuine event`);
  return result(judged.every(isRejected) ? "pass" : "fail", did);
}

/**
 * The verdict on a probe that must be accepted. Only the first probe checks the response time, so that slowness counts
 * as one mistake.
 */
function judgeAcceptance({ id, isBurst }: Probe, outcomes: readonly Outcome[]): Verdict {
  const isFirst = id === probes[0].id;
  if (isFirst && outcomes.every(isUnreachable)) return "inconclusive";
  const heard = isBurst ? outcomes.filter((outcome) => !isStillWaiting(outcome)) : outcomes;
  if (heard.length < outcomes.length && heard.every(isAccepted)) return "inconclusive";
  if (!outcomes.every(isAccepted)) return "fail";
  return isFirst && outcomes.some(({ duration }) => duration > MAX_RESPONSE_TIME) ? "fail" : "pass";
}

/**
 * Whether the system may not have handed the connection to the receiver yet. In a burst, it queues only as many
 * connections as fit into the receiver's listen backlog (5 in Python's http.server). From outside, this looks like a
 * receiver that does not respond.
 */
const isStillWaiting = ({ errorCode }: Outcome) => errorCode === "connection_refused" || errorCode === "timeout";

/** Whether there was no receiver to send to, which is not a mistake of the receiver. */
const isUnreachable = ({ errorCode }: Outcome) =>
  errorCode === "connection_refused" || errorCode === "dns" || errorCode === "target_not_allowed";

function describe(outcomes: readonly Outcome[]): string {
  const groups = [...grouped(outcomes, describeOne)];
  const described = groups.map(([text, { length }]) => (length > 1 ? `${text} ×${length}` : text)).join(", ");
  const slowest = Math.round(Math.max(...outcomes.map(({ duration }) => duration)));
  return `${described}, ${outcomes.length > 1 ? "the slowest " : ""}in ${slowest} ms`;
}

const describeOne = ({ responseStatus, errorMessage }: Outcome) =>
  responseStatus === null ? (errorMessage ?? "no response").replace(/\.$/, "") : `answered ${responseStatus}`;
