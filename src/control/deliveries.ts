// Delivery attempts of all merchants: list and replay them, wait until they have settled, and diagnose a signature.

import { endpointFactory } from "../areas/declare/operation.ts";
import { attemptFacts, attemptVocabulary } from "../client/row-filter.ts";
import { AttemptFault } from "../contracts/fault.ts";
import { WebhookDelivery } from "../contracts/webhook.ts";
import { isoTime } from "../kernel/clock.ts";
import { fail } from "../kernel/errors.ts";
import { assumedPageQuery, listOf, nullable, nullableText, oneOf, Type, text, timeText } from "../schema/shapes.ts";
import type { Stores } from "../store/stores.ts";
import type { StoredAttempt } from "../store/webhooks/attempts.ts";
import { WHAT_IS_KEPT } from "../store/webhooks/retention.ts";
import type { Dispatcher } from "../webhooks/dispatcher.ts";
import { spanOf } from "./given-values.ts";
import { filteredRows, filterFields } from "./requests.ts";

interface Parts extends Pick<Stores, "attempts" | "eventLog" | "deliveries"> {
  dispatcher: Pick<Dispatcher, "drain" | "replay" | "explain">;
  /** Sends the held deliveries, and trusts the file they come from. Resolves to the number of deliveries. */
  releaseHeld(): Promise<number>;
}

const endpoint = endpointFactory<Parts>("Webhooks");

/** An attempt as the service lists it, with fields that only the sandbox has. */
const LoggedAttempt = Type.Object(
  {
    ...WebhookDelivery.properties,
    at: timeText("Sandbox time at which it ended"),
    sequence: Type.Integer({ description: "The attempt's number, in the order in which attempts were written" }),
    delivery: Type.Integer({ description: "The number of the attempt's delivery. A replay is a new delivery" }),
    deliveryState: oneOf(
      ["pending", "sending", "succeeded", "failed", "cancelled"],
      "The state of the attempt's delivery; `cancelled` if, before the next attempt, the endpoint was deleted or " +
        "disabled, or the merchant removed",
    ),
    trace: nullableText("The trace of the request that caused the delivery; null without one"),
    summary: nullable(
      Type.String({ description: "Why the attempt failed: the first line of the response's body, or the error" }),
    ),
    durationMs: nullable(
      Type.Number({ description: "Real milliseconds until the receiver responded; null if the attempt was aborted" }),
    ),
    fault: Type.Union([AttemptFault, Type.Null()], {
      description: "The effect of fault rules on the attempt; null if none applied",
    }),
  },
  { title: "logged_attempt" },
);

/** The fault rules that affected an attempt, separated by commas as in the live stream. */
const rulesOf = ({ fault }: StoredAttempt) => fault?.effects.map(({ id }) => id).join(",") ?? null;

const showAttemptOf = (record: StoredAttempt) => ({ ...record, at: isoTime(record.at) });

export const Replayed = Type.Object({
  eventId: Type.String(),
  deliveries: Type.Array(Type.String(), { description: "Ids of the new delivery attempts" }),
});

const listAttempts = endpoint({
  id: "deliveries.list",
  method: "GET",
  path: "/deliveries",
  summary: "List delivery attempts of all merchants, newest first",
  description: WHAT_IS_KEPT,
  query: Type.Object({
    merchant: Type.Optional(text("Only attempts of this merchant")),
    eventId: Type.Optional(text("Only attempts of this event")),
    requestId: Type.Optional(text("Only attempts of the events that this request caused")),
    endpointId: Type.Optional(text("Only attempts at this endpoint")),
    type: Type.Optional(text("Only attempts of events of this type")),
    status: Type.Optional(oneOf(["succeeded", "failed", "aborted"], "Only attempts that ended with this status")),
    ...filterFields,
    ...assumedPageQuery.properties,
  }),
  reply: listOf(LoggedAttempt),
  errors: ["invalid_cursor", "invalid_limit"],
  async handle({ query: { merchant, filter, limit: most = 25, starting_after, ...query }, attempts, gone }) {
    if (filter !== undefined && query.ending_before !== undefined)
      fail("validation_failed", "With a filter, page with starting_after: ending_before is not supported.");
    const log = {
      vocabulary: attemptVocabulary,
      factsOf: (record: StoredAttempt) =>
        attemptFacts({ ...record, merchant: record.merchantId, fault: rulesOf(record) }),
      read: (after: string | undefined, chunk: number) =>
        attempts.log(merchant, { ...query, starting_after: after, limit: chunk }).data,
    };
    const { data, ...envelope } =
      filter === undefined
        ? attempts.log(merchant, { ...query, starting_after, limit: most })
        : await filteredRows(log, { filter, starting_after, limit: most }, gone);
    return { ...envelope, data: data.map(showAttemptOf) };
  },
});

const showAttempt = endpoint({
  id: "deliveries.get",
  method: "GET",
  path: "/deliveries/{id}",
  summary:
    "Get a delivery attempt, all others of the same event to the same endpoint, and the request that caused the event",
  reply: Type.Object({
    attempt: LoggedAttempt,
    attempts: Type.Array(LoggedAttempt),
    request: nullableText("The request that caused the event; null if none did"),
  }),
  errors: ["resource_not_found"],
  handle({ params, attempts, eventLog }) {
    const about = attempts.find(undefined, params.id) ?? noSuchAttempt(params.id);
    const [record] = attempts.log(about.merchant, { id: params.id }).data;
    const { data } = attempts.log(about.merchant, { eventId: about.eventId, endpointId: about.endpointId, limit: 100 });
    if (!record) return noSuchAttempt(params.id);
    const request = eventLog.find(about.eventId, about.merchant)?.request ?? null;
    return { attempt: showAttemptOf(record), attempts: data.map(showAttemptOf), request };
  },
});

const noSuchAttempt = (id: string) => fail("resource_not_found", `No attempt ${id} is logged. ${WHAT_IS_KEPT}`);

const replayAttempt = endpoint({
  id: "deliveries.replay",
  method: "POST",
  path: "/deliveries/{id}/replay",
  summary: "Replay a delivery attempt to its endpoint",
  description:
    "Sends the same bytes to the endpoint's current address, signed with its current secret. " +
    "One attempt, no retries.",
  reply: Replayed,
  status: 202,
  errors: ["resource_not_found", "invalid_state"],
  async handle({ params, attempts, dispatcher }) {
    const about = attempts.find(undefined, params.id) ?? noSuchAttempt(params.id);
    return showReplayed(await dispatcher.replay(about.merchant, params.id));
  },
});

const release = endpoint({
  id: "deliveries.release",
  method: "POST",
  path: "/deliveries/release",
  summary: "Send the held deliveries, and trust their file",
  description:
    "Deliveries are held if they come from a database, a snapshot or a merchant-sandbox.json that this user's " +
    "sandboxes did not write, or from the snapshot that the sandbox was started with.",
  reply: Type.Object({ released: Type.Integer({ description: "How many deliveries are due now" }) }),
  handle: async ({ releaseHeld }) => ({ released: await releaseHeld() }),
});

export const showReplayed = ({ eventId, attempts }: { eventId: string; attempts: { id: string }[] }) => ({
  eventId,
  deliveries: attempts.map(({ id }) => id),
});

const drain = endpoint({
  id: "sandbox.drain",
  method: "POST",
  path: "/drain",
  summary: "Wait until no delivery is due or in flight",
  description:
    "Use this in tests instead of sleeping. `settled` does not mean that everything was delivered: retries that are " +
    "due later and held deliveries are not waited for. `pending` counts both.",
  body: Type.Object({ within: Type.Optional(text("Maximum wait in real time, such as 5s (default: 10s)")) }),
  example: { within: "5s" },
  reply: Type.Object({
    settled: Type.Boolean({ description: "Whether no delivery is due or in flight; false if the wait ended first" }),
    pending: Type.Integer({ description: "Deliveries waiting for a later attempt, and held ones" }),
    inFlight: Type.Integer(),
  }),
  handle: ({ body, dispatcher, gone }) => dispatcher.drain({ within: spanOf("within", body.within) ?? 10_000, gone }),
});

/** The endpoint's merchant; fails with 404 if the endpoint is unknown. */
export const ownerOfEndpoint = ({ ownerOf }: Stores["deliveries"], id: string): string =>
  ownerOf(id) ?? fail("resource_not_found", `There is no endpoint ${id}.`);

const explain = endpoint({
  id: "signature.explain",
  method: "POST",
  path: "/signature/explain",
  summary: "Diagnose a signature that does not match",
  body: Type.Object({
    endpoint: text("The endpoint of the delivery"),
    body: Type.String({ description: "The body as your code hashed it" }),
    signature: text("The signature your code computed, or received"),
  }),
  example: { endpoint: "we_…", body: '{"id":"evt_…"}', signature: "0f3c…" },
  reply: Type.Object({ matches: Type.Boolean(), mistake: nullable(Type.String()), explanation: Type.String() }),
  errors: ["resource_not_found"],
  handle: ({ body: { endpoint = "", body = "", signature = "" }, dispatcher, deliveries }) =>
    dispatcher.explain(ownerOfEndpoint(deliveries, endpoint), endpoint, body, signature),
});

export const operations = [listAttempts, showAttempt, replayAttempt, release, drain, explain];
