// The webhooks of a run that a receiver did not accept, and advice for each kind of failure.

import type { AttemptMessage } from "../../contracts/live-messages.ts";
import { grouped } from "../../kernel/grouped.ts";
import { plural } from "../../kernel/text.ts";

/** For each event and endpoint, the last attempt if it failed. */
export type FailedWebhooks = Map<string, AttemptMessage>;

export function observeAttempt(failed: FailedWebhooks, attempt: AttemptMessage, limit: number): void {
  const { endpointId, eventId, status, responseStatus, errorCode, fault } = attempt;
  const key = `${endpointId} ${eventId}`;
  // If a fault rule dropped the attempt, or the sandbox stopped, the receiver did not fail.
  const isSent = errorCode !== null && errorCode !== "dropped";
  // A receiver may rightly reject a delivery that a fault rule changed.
  if (status === "succeeded" || (responseStatus !== null && fault !== null)) failed.delete(key);
  else if (isSent && (failed.has(key) || failed.size < limit)) failed.set(key, attempt);
}

/** One line for each receiver and kind of failure. */
export const failedWebhookLines = (failed: FailedWebhooks) =>
  [...grouped([...failed.values()], kindOf).values()].map((attempts) => {
    const { url, eventType, eventId, responseStatus, errorCode, summary } = attempts.at(-1) as AttemptMessage;
    const webhooks = `${plural(attempts.length, "webhook")} at ${url}`;
    const last = `the last one ${eventType} ${eventId}`;
    const incomplete = errorCode === "http_status" || errorCode === "redirect_not_followed" ? "" : "only a part of ";
    const failure =
      responseStatus === null
        ? `No response to ${webhooks}, ${last}: ${summary}`
        : `Not accepted: ${webhooks}, ${last}, which got ${incomplete}a ${responseStatus}: ${summary}`;
    const advice = ADVICE[errorCode as string];
    return `${failure}${/[.!?]$/.test(failure) ? "" : "."}${advice === undefined ? "" : ` ${advice}`}`;
  });

const kindOf = ({ url, responseStatus, errorCode }: AttemptMessage) =>
  [url, responseStatus === null, errorCode].join(" ");

const AWAIT_DELIVERIES =
  "let the tests wait for their deliveries, for example with POST /_sandbox/drain, before the receiver ends.";

const NOT_RUNNING = `Start the receiver before the first event, and ${AWAIT_DELIVERIES}`;

/** What to do about each error of an attempt. For any other error, the summary of the attempt says what to do. */
const ADVICE: Readonly<Record<string, string>> = {
  connection_refused: NOT_RUNNING,
  dns: NOT_RUNNING,
  timeout: "Store the event and respond before you process it, or allow more time with --webhook-timeout.",
  reset: `If the receiver ended with the tests, ${AWAIT_DELIVERIES} If it still runs, its log says why it failed.`,
  redirect_not_followed: "Redirects are not followed, so register the final address.",
  http_status: "The receiver's log says why it failed.",
};
