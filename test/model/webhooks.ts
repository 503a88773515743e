// The webhook operations: endpoints and their health, secrets, the delivery log and test events.

import {
  ANYTHING,
  type Call,
  chosen,
  create,
  emit,
  own,
  refuse,
  SOME_NUMBER,
  SOME_TEXT,
  subscribedEndpoints,
} from "./call.ts";
import { page, pageOf } from "./pagination.ts";
import { eventTypes, type Fields } from "./record-kinds.ts";
import { type Attempt, type Endpoint, type Entry, type Merchant, recordsOf, secondsOf } from "./world.ts";

const SECRET = /^whsec_[0-9a-f]{64}$/;

export function createWebhook(call: Call): unknown {
  const { url, events } = call.body as { url?: string; events?: string[] };
  if (url === undefined || events === undefined) return refuse("validation_failed");
  checkAddress(url);
  warn(call, events);
  const made = create(call, "webhook_endpoint", { ...call.extra, url, events: [...new Set(events)] });
  const secret = chosen(call, SECRET, "secret");
  call.merchant.endpoints.push({ id: made.id, merchant: call.merchant.id, secret, disabledReason: null });
  return { ...made, health: healthOf(call, made), secret };
}

/** Ports that the Fetch standard blocks. */
const OTHER_PROTOCOLS = ["25", "6000"];

/** Endpoints must be local, without credentials or a fragment. */
function checkAddress(text: string): void {
  const url = /^https?:\/\/[^/\s]/i.test(text) && URL.canParse(text) ? new URL(text) : refuse("invalid_webhook_url");
  if (url.username !== "" || url.hash !== "" || OTHER_PROTOCOLS.includes(url.port)) refuse("invalid_webhook_url");
  if (!/^(127\.\d+\.\d+\.\d+|\[::1\]|([a-z0-9_-]+\.)*localhost)$/.test(url.hostname)) refuse("webhook_url_not_local");
}

/** An unknown event type is accepted with a warning. */
function warn(call: Call, types: string[]): void {
  if (types.some((type) => type !== "*" && !eventTypes.has(type))) call.headers["x-sandbox-warning"] = "something";
}

export function listWebhooks(call: Call): unknown {
  const list = pageOf(call, recordsOf(call.merchant, "webhook_endpoint"));
  return { ...list, data: list.data.map((endpoint) => ({ ...endpoint, health: healthOf(call, endpoint) })) };
}

/** Cancels the pending deliveries of the endpoint. Its attempts stay in the log. */
export function deleteWebhook(call: Call): unknown {
  const { id } = own(call, "webhook_endpoint", call.params.id);
  cancel(call.merchant, id);
  call.merchant.records.set(
    "webhook_endpoint",
    recordsOf(call.merchant, "webhook_endpoint").filter((other) => other.id !== id),
  );
  return { id, object: "webhook_endpoint", deleted: true };
}

export function cancel(merchant: Merchant, endpoint: string): void {
  for (const delivery of merchant.deliveries) {
    if (delivery.endpoint !== endpoint || delivery.state !== "pending") continue;
    delivery.state = "cancelled";
    // The log must not show a time for a cancelled attempt.
    for (const attempt of merchant.attempts)
      if (attempt.delivery === delivery && attempt.attempt === delivery.attempts) attempt.nextDue = null;
  }
}

/** The new secret signs from the next attempt on. */
export function rotateSecret(call: Call): unknown {
  const { id } = own(call, "webhook_endpoint", call.params.id);
  const endpoint = endpointOf(call.merchant, id);
  const secret = chosen(call, SECRET, "secret");
  if (secret === endpoint.secret) call.violations.push("the rotation did not change the secret");
  endpoint.secret = secret;
  return { id, object: "webhook_endpoint", secret, rotated: call.now };
}

export const endpointOf = (merchant: Merchant, id: string): Endpoint =>
  merchant.endpoints.find((endpoint) => endpoint.id === id) ?? refuse("resource_not_found");

/** Sends a test event to the subscribed endpoints. No record changes. */
export function sendTestEvent(call: Call): unknown {
  const { type, data = {} } = call.body as { type?: string; data?: Fields };
  if (type === undefined) return refuse("validation_failed");
  warn(call, [type]);
  const subscribed = subscribedEndpoints(call.merchant, type);
  const event = emit(call.world, call.merchant, type, data, true);
  const id = chosen(call, /^evt_[0-9A-Za-z]{16}$/, "id");
  event.promised = id;
  return {
    object: "event",
    id,
    type,
    data,
    livemode: false,
    created: event.created,
    deliveries: subscribed.map((endpointId) => ({ endpointId })),
  };
}

/** One row per attempt, sorted by end, latest first, and then by delivery, newest first. */
export function listDeliveries(call: Call): unknown {
  const { query, merchant } = call;
  const all = logOf(merchant);
  const wanted = (filter: string, value: string) => (query.get(filter) ?? value) === value;
  const listed = all.filter(
    ({ delivery: { event, endpoint }, status }) =>
      wanted("eventId", event.id ?? "") &&
      wanted("endpointId", endpoint) &&
      wanted("type", event.type) &&
      wanted("status", status),
  );
  const found = page(call, listed.map(cursorOf), all.map(cursorOf));
  return { ...found, data: found.data.map(({ of }) => attemptResource(of)) };
}

const cursors = new WeakMap<Attempt, { id: string | undefined; created: number; of: Attempt }>();

/** Returns the same object for the same attempt, so that `page` finds the rows of a filtered log in the whole log. */
function cursorOf(attempt: Attempt) {
  const known = cursors.get(attempt) ?? { id: undefined, created: secondsOf(attempt.ended), of: attempt };
  known.id = attempt.id;
  cursors.set(attempt, known);
  return known;
}

function logOf(merchant: Merchant): Attempt[] {
  const place = new Map(merchant.deliveries.map((delivery, index) => [delivery, index]));
  const rank = ({ delivery }: Attempt) => place.get(delivery) ?? -1;
  return [...merchant.attempts].sort(
    (one, other) => other.ended - one.ended || rank(other) - rank(one) || other.attempt - one.attempt,
  );
}

/** A log row as the API shows it. The clock is frozen, so the duration is 0. */
function attemptResource(attempt: Attempt): Fields {
  const { delivery, trigger, url, status, responseStatus, errorCode, nextDue, ended } = attempt;
  return {
    id: attempt.id,
    object: "webhook_delivery",
    merchantId: delivery.event.merchant,
    eventId: delivery.event.id,
    eventType: delivery.event.type,
    endpointId: delivery.endpoint,
    url,
    trigger,
    attempt: attempt.attempt,
    maxAttempts: delivery.allowed,
    status,
    responseStatus,
    responseBody: ANYTHING,
    responseTruncated: false,
    errorCode,
    errorMessage: errorCode === null ? null : SOME_TEXT,
    durationMs: 0,
    requestHeaders: ANYTHING,
    requestBody: SOME_TEXT,
    nextAttemptAt: nextDue === null ? null : secondsOf(nextDue),
    livemode: false,
    created: secondsOf(ended),
  };
}

/** A log row as the control API shows it. The sandbox chooses the numbers, and measures the duration in real time. */
export const loggedAttempt = (attempt: Attempt): Fields => ({
  ...attemptResource(attempt),
  at: new Date(attempt.ended).toISOString(),
  sequence: SOME_NUMBER,
  delivery: attempt.delivery.number ?? SOME_NUMBER,
  deliveryState: attempt.delivery.state,
  // No call of the model has a traceparent.
  trace: null,
  durationMs: SOME_NUMBER,
});

const DAY = 24 * 3_600_000;

/** The health of an endpoint, computed from its log. */
function healthOf({ world, merchant }: Pick<Call, "world" | "merchant">, { id }: Entry): Fields {
  const log = logOf(merchant).filter(({ delivery }) => delivery.endpoint === id);
  const [last] = log;
  const success = log.findIndex(({ status }) => status === "succeeded");
  const failures = success === -1 ? log : log.slice(0, success);
  const recent = log.filter(({ ended }) => ended > world.now - DAY);
  const { disabledReason } = endpointOf(merchant, id);
  const gaveUp = failures.some(({ nextDue }) => nextDue === null);
  let status = gaveUp ? "failing" : "degraded";
  if (last === undefined) status = "unknown";
  else if (last.status === "succeeded") status = "healthy";
  const at = (attempt: Attempt | undefined) => (attempt ? secondsOf(attempt.ended) : null);
  const failure = log.find(({ status }) => status === "failed");
  return {
    state: disabledReason === null ? status : "disabled",
    consecutiveFailures: failures.length,
    pendingDeliveries: merchant.deliveries.filter(({ endpoint, state }) => endpoint === id && state === "pending")
      .length,
    succeeded24h: recent.filter(({ status }) => status === "succeeded").length,
    failed24h: recent.filter(({ status }) => status === "failed").length,
    lastAttemptAt: at(last),
    lastSuccessAt: at(log[success]),
    lastFailureAt: at(failure),
    lastResponseStatus: last?.responseStatus ?? null,
    lastError: failure === undefined ? null : SOME_TEXT,
    disabledReason,
  };
}
