// Triggers an event for real: makes the record that brings it about, so that the id in the webhook can be fetched.

import { type EventSource, eventSources } from "../areas/event-sources.ts";
import type { RecordBase, Resource } from "../contracts/resource.ts";
import { pathTo, statesBefore } from "../contracts/transitions.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { fail } from "../kernel/errors.ts";
import type { JsonObject } from "../schema/schema.ts";
import { Type, text } from "../schema/shapes.ts";
import { fieldErrors } from "../schema/validator.ts";
import type { OperationContext } from "../store/operation-context.ts";
import { makeRecord } from "../store/records/sample-record.ts";
import { endpoint } from "./control-context.ts";
import { afterCommit, callerOf, knownMerchant, type RecordContext } from "./records.ts";
import { LoggedEventReply, showEvent } from "./webhooks.ts";

const TriggeredEvent = Type.Object(
  {
    ...LoggedEventReply.properties,
    record: Type.Union([Type.Object({ kind: Type.String(), id: Type.String() }), Type.Null()], {
      description: "The record that the event is about; null for a synthetic event",
    }),
    warning: Type.Union([Type.String(), Type.Null()], { description: "Why the event is synthetic although a real one was asked for" }),
  },
  { title: "triggered_event" },
);

export const triggerEvent = endpoint({
  id: "events.trigger",
  area: "Webhooks",
  method: "POST",
  path: "/events",
  summary: "Trigger an event",
  description:
    "Makes the record that brings the event about, or changes it, so that the id in the webhook can be fetched; [Events](events.md) says how for each type. " +
    "A synthetic event changes no record, like one of `POST /v1/webhook-events/test`. A type that the service never sends is sent as a synthetic event, with a warning.",
  body: Type.Object({
    type: Type.String({ description: "Event type, such as payment.succeeded", pattern: "^[a-z0-9_]+(\\.[a-z0-9_]+)+$", maxLength: 255 }),
    merchant: Type.Optional(text("The merchant whose endpoints get it (default: the first merchant)")),
    data: Type.Optional(Type.Record(Type.Unknown(), { description: "Fields of the record; of a synthetic event, its data" })),
    synthetic: Type.Optional(Type.Boolean({ description: "Only send the event (default: false)" })),
  }),
  example: { type: "payment.succeeded", merchant: "mer_lodge", data: { amount: 1_250 } },
  reply: TriggeredEvent,
  status: 201,
  errors: ["validation_failed", "resource_not_found", "invalid_state", "already_exists"],
  handle: ({ body: { type = "", merchant: owner, data = {}, synthetic = false }, database, eventLog, ...context }) =>
    afterCommit(
      context,
      database.groupCommit(() => {
        const merchant = knownMerchant(context, owner);
        const caller = callerOf(context, merchant);
        const newest = () => eventLog.page({ merchant, type, limit: 1 }).data[0];
        const before = newest();
        const source = synthetic ? undefined : eventSources.get(type);
        const record = source ? bringAbout(context, caller, source, data) : undefined;
        if (!record) caller.emitTest(type, data);
        const event = newest();
        if (!event || event.id === before?.id) throw new Error(`${type} was not emitted by what brings it about`);
        const about = record ? { kind: record.object, id: record.id } : null;
        return { ...showEvent(event), record: about, warning: warningFor(type) };
      }),
    ),
});

function warningFor(type: string): string | null {
  if (eventSources.has(type)) return null;
  return `The sandbox never sends ${type}.${didYouMean(type, eventSources.keys())} It was sent as a synthetic event.`;
}

/** The record after everything that brings the event about. To be called inside a transaction. */
function bringAbout(context: RecordContext, caller: OperationContext, source: EventSource, data: JsonObject): RecordBase {
  const { resource, status, back, change, call } = source;
  if (!resource) return callOperation(context, caller, source, data);
  const records = caller.own(resource);
  const changed = Object.keys(change?.(NO_RECORD) ?? {});
  const given = fieldsOf(data, (name) => !changed.includes(name));
  const only = source.isOnly ? records.newest() : undefined;
  let record = only ?? makeRecord(context, () => caller, resource, { ...given, ...(status !== undefined && { status }) });
  if (only && !change)
    record = wayTo(resource, only, status ?? "", back !== undefined).reduce((one, next) => records.move(one, next), only);
  if (back !== undefined) record = records.move(record, back);
  if (change) record = records.update(record, { ...change(record), ...fieldsOf(data, (name) => changed.includes(name)) });
  return call ? callOperation(context, caller, source, {}, record) : record;
}

const NO_RECORD: RecordBase = { id: "", object: "", merchantId: "", metadata: {}, created: 0 };

const fieldsOf = (data: JsonObject, isMeant: (name: string) => boolean): JsonObject =>
  Object.fromEntries(Object.entries(data).filter(([name]) => isMeant(name)));

/** The states on the way to `status`. A record that is there already leaves it first, unless it only starts from there. */
function wayTo(resource: Resource, { status: from = "" }: RecordBase, status: string, isStart: boolean): string[] {
  const way = (start: string, end: string) => pathTo({ ...resource, defaults: { status: start } }, end).slice(1);
  if (from !== status || isStart) return way(from, status);
  return [...way(from, statesBefore(resource.transitions, status)[0] ?? ""), status];
}

function callOperation(
  { counters }: RecordContext,
  caller: OperationContext,
  { call }: EventSource,
  data: JsonObject,
  record = NO_RECORD,
): RecordBase {
  if (!call) throw new Error("the source of the event has neither a record nor an operation");
  const unique = `${caller.merchant}-${counters.next(caller.merchant, "sample")}`;
  const body = { ...call.body(record, unique), ...data };
  const [error] = fieldErrors(call.operation.body ?? Type.Object({}), body);
  if (error) fail("validation_failed", error.message, { errors: [error] });
  return call.operation.handle({ ...caller, params: call.params(record), query: {}, body, extra: {} }) as RecordBase;
}
