// Starts attempts in the database, and records their outcomes with the new states of their deliveries. Every method
// runs inside a transaction.

import type { AttemptFault, DeliveryInjection } from "../contracts/fault.ts";
import type { AttemptMessage } from "../contracts/live-messages.ts";
import type { WebhookRequest } from "../contracts/webhook.ts";
import { applyFaults, attemptFaultOf, injectionsOf, type SchemaOf } from "../faults/delivery-content.ts";
import type { DeliveryFaults } from "../faults/index.ts";
import type { Clock } from "../kernel/clock.ts";
import { mask } from "../kernel/mask.ts";
import type { Random } from "../kernel/random.ts";
import { type CallSpan, childSpan, parseTraceparent, traceparentOf } from "../kernel/trace-context.ts";
import type { Stores } from "../store/stores.ts";
import { type AttemptEnd, type AttemptStart, summaryOf } from "../store/webhooks/attempts.ts";
import type { Delivery, Receiver } from "../store/webhooks/deliveries.ts";
import type { Outcome } from "./http/outcome.ts";
import { nextAttempt, type RetrySchedule, waitFor } from "./retry-schedule.ts";
import { type AttemptId, buildRequest, type RequestOptions } from "./webhook-request.ts";

/** An attempt that may be sent: its delivery is marked as sending. */
export interface Attempt {
  readonly delivery: Delivery;
  readonly start: AttemptStart;
  readonly request: WebhookRequest;
  /** The attempt's span in the trace of the request that caused the event; undefined without a trace. */
  readonly span: CallSpan | undefined;
  /**
   * Whether the attempt began on a frozen clock. Such an attempt takes no sandbox time, even if the clock is set before
   * it ends.
   */
  readonly isFrozen: boolean;
}

export interface RecordedAttempt {
  /** When the delivery is retried; null when it is not. */
  nextDue: number | null;
  message: AttemptMessage;
  /** Real milliseconds at which the attempt began. A busy machine may record an attempt long after its end. */
  began: number;
  span: CallSpan | undefined;
}

export interface AttemptRecorderOptions extends RequestOptions, Pick<Stores, "deliveries" | "attempts"> {
  clock: Clock;
  random: Random;
  attemptId: AttemptId;
  /** Whether deliveries carry the trace of the request that caused them. */
  traceDeliveries: boolean;
  schedule: RetrySchedule;
  faults: DeliveryFaults;
  schemaOf: SchemaOf;
}

const GONE = 410;
/** The statuses with which a receiver's Retry-After is followed. */
const RETRY_AFTER_STATUSES = new Set([429, 503]);

export function createAttemptRecorder(options: AttemptRecorderOptions) {
  const { deliveries, attempts } = options;
  return {
    begin(delivery: Delivery, receiver: Receiver): Attempt {
      const attempt = prepare(delivery, receiver, options);
      deliveries.markSending(delivery.sequence);
      if (delivery.copy > 0) reportFaultsAgain(injectionsOf(delivery), attempt.start, options);
      return attempt;
    },
    /** Records the outcome of an attempt. Undefined if a reset has removed the delivery. */
    recordOutcome(attempt: Attempt, outcome: Outcome): RecordedAttempt | undefined {
      const end = endOf(attempt, outcome, options);
      const { sequence, merchant, endpoint } = attempt.delivery;
      const exists =
        end.nextDue === null
          ? deliveries.finish(sequence, end.status === "succeeded" ? "succeeded" : "failed")
          : deliveries.retryAt(sequence, end.nextDue);
      if (!exists) return undefined;
      const sequenceOfAttempt = attempts.add(attempt.start, end);
      if (outcome.responseStatus === GONE) deliveries.disable(merchant, endpoint);
      const message = messageOf(attempt, end, sequenceOfAttempt);
      return { nextDue: end.nextDue, message, began: outcome.began, span: attempt.span };
    },
    /**
     * Logs as aborted the attempts that a crash interrupted, and retries their deliveries. `isInFlight` excludes the
     * attempts of this process.
     */
    recoverInterrupted(isInFlight: (delivery: number) => boolean) {
      for (const delivery of deliveries.interrupted()) if (!isInFlight(delivery.sequence)) recover(delivery, options);
    },
  };
}

function recover(delivery: Delivery, options: AttemptRecorderOptions): void {
  const { clock, deliveries, attempts } = options;
  const { sequence, merchant, endpoint, attempts: begun } = delivery;
  const now = clock.now();
  const receiver = deliveries.anyReceiver(merchant, endpoint);
  const isRetried = receiver?.enabled === 1;
  // Rebuilds the request from the delivery and its receiver, because requests are not stored before they are sent.
  const interrupted = receiver && prepare({ ...delivery, attempts: begun - 1 }, receiver, options);
  if (interrupted) attempts.add(interrupted.start, { ...INTERRUPTED, nextDue: isRetried ? now : null, ended: now });
  if (isRetried) deliveries.retryInterrupted(sequence, now);
  else deliveries.finish(sequence, "cancelled");
}

/** The next attempt of a delivery, with its fault rules applied. */
function prepare(delivery: Delivery, receiver: Receiver, options: AttemptRecorderOptions): Attempt {
  const span = spanOf(delivery, options);
  const traceparent = span !== undefined && options.traceDeliveries ? traceparentOf(span.own) : undefined;
  const intended = buildRequest(delivery, receiver, options, traceparent);
  const injections = injectionsOf(delivery);
  const request =
    injections.length === 0 ? intended : applyFaults(intended, injections, { ...options, delivery, receiver });
  const start = startOf(delivery, request, attemptFaultOf(injections, intended, delivery.copy), options);
  return {
    delivery: { ...delivery, attempts: start.attempt },
    start,
    request,
    span,
    isFrozen: options.clock.mode === "frozen",
  };
}

/** The span of the next attempt, a child of the request's span. */
function spanOf(delivery: Delivery, { attemptId, random }: AttemptRecorderOptions): CallSpan | undefined {
  const cause = parseTraceparent(delivery.trace);
  if (cause === undefined) return undefined;
  return { own: childSpan(random, cause, attemptId(delivery, delivery.attempts + 1)), parent: cause.spanId };
}

/** Reports that a delivery's faults fired for one of its copies too, without counting them again. */
function reportFaultsAgain(
  injections: readonly DeliveryInjection[],
  { id }: AttemptStart,
  { faults, clock }: AttemptRecorderOptions,
): void {
  for (const { firing } of injections) faults.reportAgain({ ...firing, attemptId: id, at: clock.now() });
}

function startOf(
  delivery: Delivery,
  request: WebhookRequest,
  fault: AttemptFault | null,
  { attemptId, clock }: AttemptRecorderOptions,
): AttemptStart {
  const { sequence, merchant, endpoint, trigger, attempts, aborted, allowed } = delivery;
  const attempt = attempts + 1;
  return {
    id: attemptId(delivery, attempt),
    merchant,
    endpoint,
    delivery: sequence,
    trigger: attempt === 1 ? trigger : "retry",
    attempt,
    allowed: allowed + aborted,
    url: request.url,
    headers: request.headers,
    body: request.body === delivery.body ? null : request.body,
    fault,
    started: clock.now(),
  };
}

function endOf({ start, delivery, isFrozen }: Attempt, outcome: Outcome, options: AttemptRecorderOptions): AttemptEnd {
  const { responseStatus, responseBody, responseTruncated, errorCode, errorMessage, duration } = outcome;
  const ended = isFrozen ? start.started : options.clock.now();
  const succeeded = errorCode === null;
  const isRetried =
    !succeeded &&
    responseStatus !== GONE &&
    options.deliveries.receiver(delivery.merchant, delivery.endpoint) !== undefined;
  return {
    status: succeeded ? "succeeded" : "failed",
    responseStatus,
    responseBody,
    responseTruncated,
    errorCode,
    errorMessage,
    nextDue: isRetried ? retryTime(delivery, outcome, ended, options) : null,
    ended,
    duration,
  };
}

function retryTime(
  delivery: Delivery,
  { responseStatus, retryAfter }: Outcome,
  ended: number,
  { schedule, random }: AttemptRecorderOptions,
): number | null {
  const minimumWait = RETRY_AFTER_STATUSES.has(responseStatus ?? 0) ? waitFor(retryAfter, ended) : 0;
  return nextAttempt(schedule, random, delivery, ended, minimumWait);
}

const INTERRUPTED = {
  status: "aborted",
  responseStatus: null,
  responseBody: null,
  responseTruncated: false,
  errorCode: null,
  errorMessage: "The sandbox stopped before it recorded the receiver's response.",
  duration: null,
} as const;

function messageOf({ start, delivery }: Attempt, end: AttemptEnd, sequence: number): AttemptMessage {
  return {
    id: start.id,
    sequence,
    delivery: start.delivery,
    at: end.ended,
    merchant: start.merchant,
    endpointId: start.endpoint,
    eventId: delivery.eventId,
    eventType: delivery.eventType,
    url: mask(start.url),
    trigger: start.trigger,
    attempt: start.attempt,
    maxAttempts: start.allowed,
    status: end.status,
    responseStatus: end.responseStatus,
    errorCode: end.errorCode,
    summary: summaryOf(end),
    durationMs: end.duration,
    nextAttemptAt: end.nextDue === null ? null : Math.floor(end.nextDue / 1000),
    fault: start.fault?.effects.map(({ id }) => id).join(",") ?? null,
  };
}
