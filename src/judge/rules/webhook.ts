// Rules on receivers of webhooks.

import type { AttemptMessage } from "../../contracts/live-messages.ts";
import type { Verdict } from "../../contracts/verdict.ts";
import { isFarFromMachine, isoTime } from "../../kernel/clock.ts";
import { VERIFY_RAW_BYTES } from "../../kernel/json-forms.ts";
import { PROGRAM } from "../../kernel/program-name.ts";
import { isForged, isGenuine } from "../firings.ts";
import type { ObservedCall } from "../observed-call.ts";
import type { Finding, RepeatDelivery, Rule } from "./rule.ts";

const MAX_DURATION = 5_000;

export const webhookAckFast: Rule = {
  id: "webhook.ack_fast",
  severity: "warning",
  confirmedBy: "time",
  demands: `The receiver responds to a delivery within ${MAX_DURATION / 1_000} seconds.`,
  hint:
    "Store the event, respond with 200, then process it: after a timeout, the sender treats the delivery as failed " +
    "and sends it again.",
  onDelivery({ attempt, faults }) {
    const { durationMs, responseStatus, errorCode } = attempt;
    const waited = responseStatus !== null || errorCode === "timeout";
    if (!waited || durationMs === null || !isGenuine(faults)) return undefined;
    // A timeout shorter than the limit proves nothing.
    if (errorCode === "timeout" && durationMs <= MAX_DURATION) return undefined;
    const took = Math.round(durationMs);
    return {
      verdict: durationMs > MAX_DURATION ? "fail" : "pass",
      message:
        errorCode === "timeout"
          ? `The receiver did not respond to ${attempt.id} within ${took} ms.`
          : `The receiver took ${took} ms to respond to ${attempt.id}.`,
      attempts: [attempt],
      milliseconds: { took, longest: MAX_DURATION },
    };
  },
};

const failureUnless = (isUnclear: boolean): Verdict => (isUnclear ? "inconclusive" : "fail");

const ENDED_OR_FAILED =
  "The connection broke before the response. If the receiver ended with the test, let the test wait for its " +
  "deliveries first: POST /_sandbox/drain. If the receiver still runs, its log says why it failed.";

export const webhookDuplicateAcked: Rule = {
  id: "webhook.duplicate_acked",
  severity: "error",
  demands: "The receiver responds with 2xx to an event that it has accepted before.",
  hint:
    "Look up the event's id before you process the event, and respond with 200 if you know it; a 4xx or 5xx only " +
    "causes another retry.",
  onDelivery({ attempt, faults, acceptedBefore }) {
    const { id, eventId, status, responseStatus, errorCode } = attempt;
    const isReset = errorCode === "reset";
    const isUnanswered = responseStatus === null && errorCode !== "timeout";
    // After any other error, the receiver got no request, so the rule cannot judge it.
    if (!acceptedBefore || !isGenuine(faults) || (isUnanswered && !isReset)) return undefined;
    const response = responseStatus === null ? "no response" : `a ${responseStatus}`;
    return {
      ...(isReset && { hint: ENDED_OR_FAILED }),
      verdict: status === "succeeded" ? "pass" : failureUnless(isReset),
      message:
        `The receiver accepted ${eventId} with ${acceptedBefore.id}; when it was sent again, ${id} ` +
        `got ${response}.`,
      attempts: [acceptedBefore, attempt],
    };
  },
};

/** The statuses with which a receiver reports that the signature did not match. */
const UNVERIFIED = new Set([401, 403]);

const SECRET_FIRST =
  "Check the secret first: the receiver must use the whole current secret of this endpoint, including whsec_. " +
  `${PROGRAM} audit <url> finds out whether it uses another secret that the sandbox knows. ` +
  `If the secret is right: ${VERIFY_RAW_BYTES.charAt(0).toLowerCase()}${VERIFY_RAW_BYTES.slice(1)}`;

const REGISTER_FINAL = "Register the final address of the receiver: redirects are not followed.";

const STORE_AND_VERIFY =
  "Store events that you cannot process yet and respond with 200. Verify the raw body, and accept both secrets for " +
  "some minutes after a rotation.";

/** Events have the time of the sandbox clock, so a receiver that checks their age may reject them. */
function clockHint(at: number): string {
  if (!isFarFromMachine(at)) return "";
  return (
    ` If the receiver checks the age of events: the sandbox clock said ${isoTime(at)}, which is not the machine's ` +
    "time. Take the age from GET /_sandbox/clock, or turn the check off."
  );
}

function rejectionHint({ responseStatus, at }: AttemptMessage): string {
  const status = responseStatus ?? 0;
  if (status < 400) return REGISTER_FINAL;
  return (UNVERIFIED.has(status) ? SECRET_FIRST : STORE_AND_VERIFY) + clockHint(at);
}

/** Statuses that ask for another attempt or unsubscribe the endpoint, and do not reject the event. */
const NOT_REJECTED = new Set([408, 410, 429]);

export const webhookGenuineTaken: Rule = {
  id: "webhook.genuine_taken",
  severity: "error",
  demands:
    "The receiver responds with 2xx to an event with a valid signature, even if it arrives before the call that " +
    "caused it returns, out of order, or around a rotation of the secret.",
  hint: STORE_AND_VERIFY,
  onDelivery({ attempt, faults, acceptedBefore }) {
    const { id, eventType, responseStatus: status } = attempt;
    if (acceptedBefore || status === null || !isGenuine(faults)) return undefined;
    const rejected = status >= 300 && status < 500 && !NOT_REJECTED.has(status);
    if (!rejected && attempt.status !== "succeeded") return undefined;
    return {
      ...(rejected && { hint: rejectionHint(attempt) }),
      verdict: rejected ? "fail" : "pass",
      message: `${id} (${eventType}) had a valid signature and got a ${status}.`,
      attempts: [attempt],
    };
  },
};

function forgeryVerdict(status: number | null): Verdict {
  if (status !== null && status >= 400 && status < 500) return "pass";
  return status !== null && status >= 200 && status < 300 ? "fail" : "inconclusive";
}

export const webhookForgeryRejected: Rule = {
  id: "webhook.forgery_rejected",
  severity: "error",
  demands: "The receiver responds with 4xx to a delivery whose signature does not match.",
  hint:
    "Compute HMAC-SHA256 over the raw body with the whole secret, compare in constant time, and respond with 401 if " +
    "the signature differs or is missing.",
  onDelivery({ attempt, faults }) {
    if (!isForged(faults)) return undefined;
    const { id, responseStatus: status } = attempt;
    const name = faults.find((firing) => firing.name !== null)?.name;
    const what = name == null ? id : `${id} (${name})`;
    return {
      verdict: forgeryVerdict(status),
      message: `${what} had no valid signature and got ${status === null ? "no response" : `a ${status}`}.`,
      attempts: [attempt],
    };
  },
};

/** Describes the response of a delivery that failed, as a relative clause. */
function responseOf({ status, responseStatus }: AttemptMessage): string {
  if (status === "succeeded") return "";
  return responseStatus === null ? ", which got no response" : `, which got a ${responseStatus}`;
}

/** Whether the Idempotency-Key or the body of a write has the event's id, so that the event certainly caused it. */
const namesEvent = ({ key = "", body }: ObservedCall, eventId: string) =>
  key.includes(eventId) || body.includes(eventId);

/** The reason why two equal writes may not mean that the receiver acted twice, if there is one. */
function doubtOn(original: ObservedCall, second: ObservedCall, isShared: RepeatDelivery["isShared"]) {
  if ([original, second].some(isShared))
    return ", but a delivery of another event was in flight, and may have caused one of the two";
  if (original.failure !== undefined)
    return `, but ${original.request} got no good response, and ${second.request} may be its retry`;
  return undefined;
}

const SAVE_ID =
  "Save the event's id in the transaction that processes it, or use it as the Idempotency-Key of the calls that it " +
  "causes.";

/** The hint if the judge cannot see how often the receiver acted. */
const COUNT_EFFECTS =
  `Count what the receiver does: ${PROGRAM} audit <url> --effects '<command that prints the count>' compares it with ` +
  `the events; in a test, an expectation of effects does. If it acts too often: ${SAVE_ID.charAt(0).toLowerCase()}` +
  SAVE_ID.slice(1);

const passByCount = (shown: string, attempts: readonly AttemptMessage[]): Finding => ({
  verdict: "pass",
  message: `A test counted the effects: ${shown}`,
  attempts,
});

/**
 * The judge sees only the merchant's writes to the API during a delivery and shortly after it. If the same write takes
 * effect after each of two deliveries of one event, the receiver processed the event twice, whatever it responded. If
 * an accepted delivery is repeated and no write came before the repeat, only a count of the effects decides the rule.
 */
export const webhookSingleEffect: Rule = {
  id: "webhook.single_effect",
  severity: "error",
  confirmedBy: "time",
  demands: "The receiver processes an event once, however often it arrives.",
  hint: SAVE_ID,
  onRepeatDelivery({ first, repeat, wasAccepted, writesBefore, writesAfterRepeat, isShared, counted }) {
    const attempts = [first, repeat];
    const effects = writesBefore.filter(({ tookEffect }) => tookEffect);
    const isAccepted = repeat.status === "succeeded";
    if (effects.length === 0) {
      // Without a write before the repeat, only a receiver that accepted both deliveries may have acted twice.
      if (!wasAccepted || !isAccepted) return undefined;
      if (counted !== undefined) return passByCount(counted, attempts);
      return {
        verdict: "inconclusive",
        message:
          `Not checked: whether the receiver acted once on ${first.eventId}. The judge sees only writes to the API, ` +
          `and none took effect between its first delivery and ${repeat.id}.`,
        hint: COUNT_EFFECTS,
        attempts,
      };
    }
    const second = writesAfterRepeat.find(
      (call) => call.tookEffect && effects.some((before) => before.fingerprint() === call.fingerprint()),
    );
    // A receiver that rejects the repeat may have left the event to a later delivery.
    if (!second && !isAccepted) return undefined;
    const same = effects.filter((call) => !second || call.fingerprint() === second.fingerprint());
    const original = same.find(({ failure }) => failure === undefined) ?? same[0] ?? effects[0];
    const before = `${original?.request} followed ${first.id}${responseOf(first)}`;
    const again = second
      ? `${second.request} did the same again after ${repeat.id}, which delivered the same event`
      : `no such write followed ${repeat.id}, which delivered the same event`;
    const doubt = second && original && doubtOn(original, second, isShared);
    // If the write does not name the event, another client may have made it.
    const isUnclear = !second && original && !namesEvent(original, first.eventId);
    if (isUnclear && counted !== undefined) return passByCount(counted, attempts);
    if (isUnclear)
      return {
        verdict: "inconclusive",
        message: `${before}, but does not name ${first.eventId}, so whether the receiver acted once was not checked.`,
        hint: COUNT_EFFECTS,
        calls: [original],
        attempts,
      };
    return {
      verdict: second ? failureUnless(doubt !== undefined) : "pass",
      message: `${before}; ${again}${doubt ?? ""}.`,
      calls: [original, second].filter((call) => call !== undefined),
      attempts,
    };
  },
};
