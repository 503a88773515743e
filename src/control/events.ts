// Events of all merchants: list, replay and trigger them. Triggering an event creates or changes its record, so that
// clients can fetch it.

import { endpointFactory } from "../areas/declare/operation.ts";
import { type EventSource, eventSources } from "../areas/event-sources.ts";
import type { AnyRecord, RecordBase, Resource } from "../contracts/resource.ts";
import { isoTime } from "../kernel/clock.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { fail } from "../kernel/errors.ts";
import type { JsonObject } from "../kernel/json-object.ts";
import { traceIdOf } from "../kernel/trace-context.ts";
import { PATTERNS } from "../schema/patterns.ts";
import { assumedPageQuery, listOf, nullableText, oneOf, type Static, Type, text, timeText } from "../schema/shapes.ts";
import { fieldErrors } from "../schema/validator.ts";
import type { OperationContext } from "../store/operation-context.ts";
import { makeAdminRecord } from "../store/records/admin-records.ts";
import { pathTo, statesBefore } from "../store/records/transitions.ts";
import type { Stores } from "../store/stores.ts";
import type { LoggedEvent } from "../store/webhooks/event-log.ts";
import { WHAT_IS_KEPT } from "../store/webhooks/retention.ts";
import type { Dispatcher } from "../webhooks/dispatcher.ts";
import { Replayed, showReplayed } from "./deliveries.ts";
import { commit, operationContextFor, operationInput, type RecordParts, warningList } from "./records.ts";

interface Parts extends RecordParts, Pick<Stores, "eventLog"> {
  dispatcher: Pick<Dispatcher, "replayEvent">;
}

const endpoint = endpointFactory<Parts>("Webhooks");

const count = Type.Integer();

const LoggedEventReply = Type.Object(
  {
    id: Type.String(),
    merchant: Type.String(),
    type: Type.String(),
    created: timeText("Sandbox time"),
    cause: oneOf(
      ["request", "clock", "control"],
      "What emitted the event: a request, the clock on a date of the event's record, or the control API",
    ),
    request: nullableText("The request that caused it"),
    trace: nullableText("The trace of that request; null without one"),
    body: Type.Unknown({ description: "The body of its deliveries" }),
    deliveries: Type.Object({ pending: count, succeeded: count, failed: count, cancelled: count }),
  },
  { title: "logged_event" },
);

const listEvents = endpoint({
  id: "events.list",
  method: "GET",
  path: "/events",
  summary: "List events of all merchants, newest first",
  description: WHAT_IS_KEPT,
  query: Type.Object({
    merchant: Type.Optional(text("Only events of this merchant")),
    type: Type.Optional(text("Only events of this type")),
    ...assumedPageQuery.properties,
  }),
  reply: listOf(LoggedEventReply),
  errors: ["invalid_cursor", "invalid_limit"],
  handle({ query, eventLog }) {
    const { data, ...envelope } = eventLog.page(query);
    return { ...envelope, data: data.map(showEvent) };
  },
});

function showEvent({ id, merchant, type, created, request, origin, trace, body, ...counts }: LoggedEvent) {
  const { pending, succeeded, failed, cancelled } = counts;
  const deliveries = { pending, succeeded, failed, cancelled };
  return {
    ...{ id, merchant, type, created: isoTime(created) },
    cause: causeOf({ request, origin }),
    ...{ request, trace: traceIdOf(trace) },
    body: JSON.parse(body) as unknown,
    deliveries,
  };
}

function causeOf({
  request,
  origin,
}: Pick<LoggedEvent, "request" | "origin">): Static<typeof LoggedEventReply>["cause"] {
  if (origin === "clock") return "clock";
  return request === null ? "control" : "request";
}

const showEventOf = endpoint({
  id: "events.get",
  method: "GET",
  path: "/events/{id}",
  summary: "Get an event of any merchant",
  reply: LoggedEventReply,
  errors: ["resource_not_found"],
  handle: ({ params, eventLog }) => showEvent(eventLog.find(params.id) ?? noSuchEvent(params.id)),
});

const noSuchEvent = (id: string) => fail("resource_not_found", `There is no event ${id}. ${WHAT_IS_KEPT}`);

const replayEvent = endpoint({
  id: "events.replay",
  method: "POST",
  path: "/events/{id}/replay",
  summary: "Replay an event to every endpoint subscribed to its type",
  reply: Replayed,
  status: 202,
  errors: ["resource_not_found"],
  async handle({ params, eventLog, dispatcher }) {
    const event = eventLog.find(params.id) ?? noSuchEvent(params.id);
    return showReplayed(await dispatcher.replayEvent(event.merchant, event.id));
  },
});

const TriggeredEvent = Type.Object(
  {
    ...LoggedEventReply.properties,
    record: Type.Union([Type.Object({ kind: Type.String(), id: Type.String() }), Type.Null()], {
      description: "The record that the event is about; null for a synthetic event",
    }),
    events: Type.Array(Type.Object({ id: Type.String(), type: Type.String() }), {
      description: "All events that this call emitted, oldest first: this event, and those of earlier states",
    }),
    warnings: warningList,
  },
  { title: "triggered_event" },
);

const triggerEvent = endpoint({
  id: "events.trigger",
  method: "POST",
  path: "/events",
  summary: "Trigger an event",
  description:
    "Creates or changes the record that the event is about; [Events](events.md) describes this for each type. Like " +
    "an event of `POST /v1/webhook-events/test`, a synthetic event changes no record. An event of a type that the " +
    "service never sends is synthetic; the reply then has a warning.",
  body: Type.Object({
    type: Type.String({
      description: "Event type, such as payment.succeeded",
      pattern: PATTERNS.eventType.pattern,
      maxLength: 255,
    }),
    merchant: Type.Optional(text("The merchant whose endpoints get it (default: the first merchant)")),
    data: Type.Optional(
      Type.Record(Type.Unknown(), { description: "Fields of the record, or the data of a synthetic event" }),
    ),
    synthetic: Type.Optional(Type.Boolean({ description: "Only send the event (default: false)" })),
  }),
  example: { type: "payment.succeeded", merchant: "mer_lodge", data: { amount: 1_250 } },
  reply: TriggeredEvent,
  status: 201,
  errors: ["resource_not_found", "invalid_state", "already_exists"],
  handle: ({ body: { type = "", merchant: owner, data = {}, synthetic = false }, eventLog, ...context }) =>
    commit(context, () => {
      const merchant = context.tenants.requireOrFirst(owner);
      const warnings = new Set(synthetic ? [] : unknownType(type));
      const caller = operationContextFor(context, merchant, warnings);
      const newest = (limit: number) => eventLog.page({ merchant, limit }).data;
      const [last] = newest(1);
      const source = synthetic ? undefined : eventSources().get(type);
      const record = source ? bringAbout(context, caller, source, data) : undefined;
      if (!record) caller.emitTest(type, data);
      const emitted = eventsAfter(last, newest(MOST_EMITTED));
      const event = emitted.findLast((one) => one.type === type);
      if (!event) throw new Error(`${type} was not emitted by its source`);
      const about = record ? { kind: record.object, id: record.id } : null;
      const events = emitted.map(({ id, type }) => ({ id, type }));
      return { ...showEvent(event), record: about, events, warnings: [...warnings] };
    }),
});

/** The number of newest events to read, which is more than any trigger emits. */
const MOST_EMITTED = 50;

/** The events that follow `last`, oldest first. `newest` has the newest one first. */
function eventsAfter(last: LoggedEvent | undefined, newest: readonly LoggedEvent[]): LoggedEvent[] {
  const older = newest.findIndex(({ id }) => id === last?.id);
  return newest.slice(0, older < 0 ? undefined : older).toReversed();
}

const unknownType = (type: string): string[] =>
  eventSources().has(type)
    ? []
    : [`The sandbox never sends ${type}.${didYouMean(type, eventSources().keys())} It was sent as a synthetic event.`];

/** Creates or changes a record so that it emits the event, and returns the record. Call inside a transaction. */
function bringAbout(context: RecordParts, caller: OperationContext, source: EventSource, data: JsonObject): RecordBase {
  const { resource, status, back, update, call } = source;
  if (!resource) return callOperation(context, caller, source, data);
  const records = caller.own(resource);
  const changed = Object.keys(update?.change(NO_RECORD) ?? {});
  const given = fieldsOf(data, (name) => !changed.includes(name));
  const only = resource.onePerMerchant ? records.newest() : undefined;
  let record =
    only ?? makeAdminRecord(context, () => caller, resource, { ...given, ...(status !== undefined && { status }) });
  if (only && !update)
    record = wayTo(resource, only, status ?? "", back !== undefined).reduce(
      (one, next) => records.move(one, next),
      only,
    );
  if (back !== undefined) record = records.move(record, back);
  if (update)
    record = records.update(record, { ...update.change(record), ...fieldsOf(data, (name) => changed.includes(name)) });
  return call ? callOperation(context, caller, source, {}, record) : record;
}

const NO_RECORD: RecordBase = { id: "", object: "", merchantId: "", metadata: {}, created: 0 };

const fieldsOf = (data: JsonObject, isMeant: (name: string) => boolean): JsonObject =>
  Object.fromEntries(Object.entries(data).filter(([name]) => isMeant(name)));

/**
 * The states through which a record moves from its own to `status`. A record that is already in `status` leaves it and
 * returns, unless `isStart` is set.
 */
function wayTo(resource: Resource, { status: from = "" }: RecordBase, status: string, isStart: boolean): string[] {
  const way = (start: string, end: string) => pathTo({ ...resource, defaults: { status: start } }, end).slice(1);
  if (from !== status || isStart) return way(from, status);
  return [...way(from, statesBefore(resource.transitions, status)[0] ?? ""), status];
}

function callOperation(
  { counters }: RecordParts,
  caller: OperationContext,
  { call }: EventSource,
  data: JsonObject,
  record: RecordBase = NO_RECORD,
): RecordBase {
  const { trigger } = call ?? {};
  const about = record as AnyRecord;
  if (!call || !trigger) throw new Error("the source of the event has neither a record nor an operation");
  const unique = `${caller.merchant}-${counters.next(caller.merchant, "sample")}`;
  const body = { ...trigger.body(about, unique), ...data };
  const [error] = fieldErrors(call.body ?? Type.Object({}), body);
  if (error) fail("validation_failed", error.message, { errors: [error] });
  return call.handle(operationInput(caller, body, trigger.params?.(about) ?? {})) as RecordBase;
}

export const operations = [listEvents, showEventOf, replayEvent, triggerEvent];
