// Audits a webhook receiver: sends all probes to it, and reports the actual response, the expected one and the reason.

import type { Verdict } from "../contracts/verdict.ts";
import type { WebhookRequest } from "../contracts/webhook.ts";
import { createClock, isoTime } from "../kernel/clock.ts";
import { fail } from "../kernel/errors.ts";
import { grouped } from "../kernel/grouped.ts";
import type { Receiver } from "../store/webhooks/deliveries.ts";
import type { Outcome } from "../webhooks/http/outcome.ts";
import type { WebhookEvent } from "../webhooks/webhook-request.ts";
import {
  createTestDeliveries,
  isAccepted,
  isRejected,
  type Probe,
  probes,
  type TestDelivery,
  type TestDeliveryOptions,
} from "./probes.ts";

export type Audit = Awaited<ReturnType<typeof auditReceiver>>;

export interface AuditDependencies extends TestDeliveryOptions {
  /** Throws if the URL is not an allowed target. */
  checkTarget(url: string): void;
  buildRequest(event: WebhookEvent, receiver: Pick<Receiver, "url" | "secret">): WebhookRequest;
  send(request: WebhookRequest): Promise<Outcome>;
  /** The secret of the endpoint registered at a URL. */
  secretOf(url: string): string | undefined;
}

const SIGNATURE = "X-Webhook-Signature";
/** Real milliseconds in which a receiver should respond. */
const MAX_RESPONSE_TIME = 5_000;

/** `run` is the number of the audit in this sandbox, so that each audit sends different events. */
export async function auditReceiver(
  deps: AuditDependencies,
  url: string,
  givenSecret: string | undefined,
  run: number,
) {
  deps.checkTarget(url);
  const secret = givenSecret ?? deps.secretOf(url) ?? failUnknownReceiver(url);
  const send = (delivery: TestDelivery) => deps.send(requestOf(deps, delivery, url, secret));
  const [genuine, ...others] = probes;
  const { deliveries, first, note } = await sendGenuine(deps, secret, run, send);
  const outcomes = new Map([[genuine, first]]);
  for (const probe of others)
    if (isWorthTrying(probe, first)) outcomes.set(probe, await sendAll(probe, probe.deliveries(deliveries), send));
  const verifies = probes.every(
    (probe) => !probe.isForgery || forgeries(probe, outcomes.get(probe) ?? []).every(isRejected),
  );
  const badlySigned = probes.find(({ id }) => id === "bad_signature");
  const forged = (badlySigned && outcomes.get(badlySigned)) ?? [];
  const results = probes.map((probe) => judge(probe, outcomes.get(probe), { first, forged, verifies }));
  if (results[0]) results[0].did += note;
  const verdict: Verdict =
    (["fail", "inconclusive"] as const).find((worst) => results.some((result) => result.verdict === worst)) ?? "pass";
  /** Whether the receiver accepted a request that was not signed with its secret. */
  const forgeryAccepted = probes.some(
    (probe) => probe.isForgery && forgeries(probe, outcomes.get(probe) ?? []).some(isAccepted),
  );
  return { url, verdict, forgeryAccepted, probes: results };
}

/**
 * Milliseconds. With a larger difference between sandbox time and machine time, a receiver may reject events as too
 * old.
 */
const CLOSE_ENOUGH = 60_000;

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
  const deliveries = createTestDeliveries(deps, secret, run);
  const first = await sendAll(genuine, genuine.deliveries(deliveries), send);
  const machine = createClock();
  if (!first.some(isRejected) || Math.abs(deps.clock.now() - machine.now()) < CLOSE_ENOUGH)
    return { deliveries, first, note: "" };
  const present = createTestDeliveries({ ...deps, clock: machine }, secret, run);
  const second = await sendAll(genuine, genuine.deliveries(present), send);
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
  { signature, slow, ...event }: TestDelivery,
  url: string,
  secret: string,
): WebhookRequest {
  const { headers, ...request } = deps.buildRequest(event, { url, secret });
  const { [SIGNATURE]: _, ...unsigned } = headers;
  return {
    ...request,
    headers: signature === undefined ? unsigned : { ...unsigned, [SIGNATURE]: signature },
    ...(slow ? { transport: "slow_send" } : {}),
  };
}

async function sendAll(
  { isBurst }: Probe,
  deliveries: readonly TestDelivery[],
  send: (delivery: TestDelivery) => Promise<Outcome>,
): Promise<Outcome[]> {
  if (isBurst) return Promise.all(deliveries.map(send));
  const outcomes: Outcome[] = [];
  for (const delivery of deliveries) outcomes.push(await send(delivery));
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

/** The outcomes of forged requests. The probe `body_changed` sends a genuine event first, which is skipped. */
const forgeries = ({ id }: Probe, outcomes: readonly Outcome[]) =>
  id === "body_changed" ? outcomes.slice(1) : outcomes;

interface OtherOutcomes {
  /** The outcomes of the first probe, a genuine event. */
  first: readonly Outcome[];
  /** The outcomes of events with a bad signature. */
  forged: readonly Outcome[];
  /** Whether the receiver rejected every forgery. */
  verifies: boolean;
}

function judge(probe: Probe, outcomes: readonly Outcome[] | undefined, { first, forged, verifies }: OtherOutcomes) {
  const { id, sent, should, expected } = probe;
  const why = probe.explains?.(outcomes ?? [], forged) ?? probe.why;
  const result = (verdict: Verdict, did: string) => ({ probe: id, verdict, sent, did, should, why });
  if (!outcomes) return result("inconclusive", "was not tried: a genuine event was not accepted either");
  const judged = expected === "rejected" ? forgeries(probe, outcomes) : outcomes;
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
