// What the file says of an attempt: that it is under way, what became of it, and what the delivery comes to by that.

import type { DeliveryFaults, DeliveryInjection } from "../contracts/fault.ts";
import type { AttemptMessage } from "../contracts/live-messages.ts";
import type { Clock } from "../kernel/clock.ts";
import { type Random, sortKeyIn } from "../kernel/random.ts";
import type { AttemptEnd, AttemptFault, AttemptStart, Attempts } from "../store/webhooks/attempts.ts";
import type { Deliveries, Delivery, Receiver } from "../store/webhooks/deliveries.ts";
import { disturbed, type EffectOf, effectOf, injectionsOf, noteOf } from "./faults/content.ts";
import type { Outcome } from "./http/outcome.ts";
import type { WebhookRequest } from "./http/sender.ts";
import { nextAttempt, readRetryAfter, type Schedule } from "./retry-schedule.ts";
import { sign } from "./signature.ts";

/** An attempt whose delivery is noted as being sent: it may now go. */
export interface Attempt {
  readonly delivery: Delivery;
  readonly start: AttemptStart;
  readonly plan: WebhookRequest;
  /** What a fault rule makes of the outcome. */
  readonly policy: EffectOf<"retry_policy"> | undefined;
}

export interface Concluded {
  /** When the next attempt is due; null when there is none. */
  nextDue: number | null;
  told: AttemptMessage;
}

/** Every method is to be called inside a transaction. */
export interface Ledger {
  begin(delivery: Delivery, receiver: Receiver): Attempt;
  /** Undefined when its delivery is gone from the file, as after a reset. */
  conclude(attempt: Attempt, outcome: Outcome): Concluded | undefined;
  /** Logs as aborted what a crash cut off, and owes it again. `isUnderWay` knows what this process itself is sending. */
  recover(isUnderWay: (delivery: number) => boolean): void;
}

export interface LedgerNeeds {
  clock: Clock;
  random: Random;
  deliveries: Deliveries;
  attempts: Attempts;
  schedule: Schedule;
  faults: DeliveryFaults;
  /** What the sandbox calls itself to receivers. */
  userAgent: string;
}

const GONE = 410;
/** The statuses with which a receiver may say when to come back. */
const MAY_PUT_OFF = new Set([429, 503]);

export function createLedger(needs: LedgerNeeds): Ledger {
  const { clock, deliveries, attempts } = needs;
  return {
    begin(delivery, receiver) {
      const attempt = prepare(delivery, receiver, needs);
      deliveries.markSending(delivery.sequence);
      if (delivery.copy > 0) tellAgain(injectionsOf(delivery), attempt.start, needs);
      return attempt;
    },
    conclude(attempt, outcome) {
      const end = endOf(attempt, outcome, needs);
      const { sequence, merchant, endpoint } = attempt.delivery;
      const isThere =
        end.nextDue === null
          ? deliveries.finish(sequence, end.status === "succeeded" ? "succeeded" : "failed")
          : deliveries.retryAt(sequence, end.nextDue);
      if (!isThere) return undefined;
      attempts.add(attempt.start, end);
      if (outcome.responseStatus === GONE) deliveries.disable(merchant, endpoint, "gone");
      return { nextDue: end.nextDue, told: describe(attempt, end) };
    },
    recover(isUnderWay) {
      for (const delivery of deliveries.interrupted().filter(({ sequence }) => !isUnderWay(sequence))) {
        const { sequence, merchant, endpoint, attempts: begun } = delivery;
        const now = clock.now();
        const receiver = deliveries.anyReceiver(merchant, endpoint);
        const owed = receiver?.enabled === 1;
        // What was sent is a function of the delivery and of where it goes: it need not have been written down.
        const cutOff = receiver && prepare({ ...delivery, attempts: begun - 1 }, receiver, needs);
        if (cutOff) attempts.add(cutOff.start, { ...CUT_OFF, nextDue: owed ? now : null, ended: now });
        if (owed) deliveries.retryInterrupted(sequence, now);
        else deliveries.finish(sequence, "cancelled");
      }
    },
  };
}

/** The next attempt of a delivery, with what fault rules make of it. */
function prepare(delivery: Delivery, receiver: Receiver, needs: LedgerNeeds): Attempt {
  const usual = planAttempt(delivery, receiver, needs.userAgent);
  const injections = injectionsOf(delivery);
  const plan = injections.length === 0 ? usual : disturbed(usual, injections, { delivery, receiver, random: needs.random });
  const start = startOf(delivery, plan, noteOf(injections, usual, delivery.copy), needs);
  return { delivery: { ...delivery, attempts: start.attempt }, start, plan, policy: effectOf(injections, "retry_policy") };
}

/** As much of a delivery as is sent. */
export type Sent = Pick<Delivery, "body" | "eventId" | "eventType">;

/** The request of an attempt: the frozen body, signed with the secret that holds now, to the address that holds now. */
export function planAttempt({ body, eventId, eventType }: Sent, { url, secret }: Receiver, userAgent: string): WebhookRequest {
  const headers = {
    "Content-Type": "application/json",
    "X-Webhook-Signature": sign(body, secret),
    "X-Webhook-Id": eventId,
    "X-Webhook-Event": eventType,
    "User-Agent": userAgent,
    "Accept-Encoding": "identity",
    "Content-Length": String(Buffer.byteLength(body)),
  };
  return { url, headers, body };
}

/** The id follows from what an attempt is, not from when it came: attempts that run side by side are numbered by no race. */
export function attemptId(random: Random, delivery: Identity, attempt: number): string {
  const { merchant, eventId, endpoint, replay, copy } = delivery;
  return random.sortableId(sortKeyIn(eventId), "whd", merchant, eventId, endpoint, replay, attempt, ...(copy > 0 ? ["copy", copy] : []));
}

type Identity = Pick<Delivery, "merchant" | "eventId" | "endpoint" | "replay" | "copy">;

/** A copy is touched by what touched the delivery that it was made of. */
function tellAgain(injections: readonly DeliveryInjection[], { id }: AttemptStart, { faults, clock }: LedgerNeeds): void {
  for (const { firing } of injections) faults.reportAgain({ ...firing, attemptId: id, at: clock.now() });
}

function startOf(delivery: Delivery, plan: WebhookRequest, fault: AttemptFault | null, { random, clock }: LedgerNeeds): AttemptStart {
  const { sequence, merchant, endpoint, trigger, attempts, aborted, allowed } = delivery;
  const attempt = attempts + 1;
  return {
    id: attemptId(random, delivery, attempt),
    merchant,
    endpoint,
    delivery: sequence,
    trigger: attempt === 1 ? trigger : "retry",
    attempt,
    allowed: allowed + aborted,
    url: plan.url,
    headers: plan.headers,
    body: plan.body === delivery.body ? null : plan.body,
    fault,
    started: clock.now(),
  };
}

function endOf({ delivery, policy }: Attempt, outcome: Outcome, { clock, random, deliveries, schedule }: LedgerNeeds): AttemptEnd {
  const { responseStatus, errorCode } = outcome;
  const ended = clock.now();
  const wanted = errorCode === null ? policy?.as === "ignore_2xx" : policy?.as !== "give_up";
  const again = wanted && responseStatus !== GONE && deliveries.receiver(delivery.merchant, delivery.endpoint) !== undefined;
  return {
    status: errorCode === null ? "succeeded" : "failed",
    responseStatus,
    responseBody: outcome.responseBody,
    responseTruncated: outcome.responseTruncated,
    errorCode,
    errorMessage: outcome.errorMessage,
    nextDue: again ? nextDue(delivery, policy, schedule, random, ended, outcome) : null,
    ended,
    duration: outcome.duration,
  };
}

function nextDue(
  delivery: Delivery,
  policy: Attempt["policy"],
  schedule: Schedule,
  random: Random,
  ended: number,
  outcome: Outcome,
): number | null {
  const gaps = policy?.as === "compress" ? schedule.gaps.map((gap) => gap / policy.factor) : schedule.gaps;
  const putOff = MAY_PUT_OFF.has(outcome.responseStatus ?? 0) ? readRetryAfter(outcome.retryAfter, ended) : 0;
  return nextAttempt({ ...schedule, gaps }, random, delivery, ended, putOff);
}

const CUT_OFF = {
  status: "aborted",
  responseStatus: null,
  responseBody: null,
  responseTruncated: false,
  errorCode: null,
  errorMessage: "The sandbox was stopped before the receiver's answer was recorded.",
  duration: null,
} as const;

function describe({ start, delivery }: Attempt, end: AttemptEnd): AttemptMessage {
  return {
    id: start.id,
    at: end.ended,
    merchant: start.merchant,
    endpointId: start.endpoint,
    eventId: delivery.eventId,
    eventType: delivery.eventType,
    url: start.url,
    trigger: start.trigger,
    attempt: start.attempt,
    maxAttempts: start.allowed,
    status: end.status,
    responseStatus: end.responseStatus,
    errorCode: end.errorCode,
    durationMs: end.duration,
    nextAttemptAt: end.nextDue === null ? null : Math.floor(end.nextDue / 1000),
  };
}
