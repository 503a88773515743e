// The pane of events: what was emitted, what caused it, and what became of its deliveries.

import type { DeliveriesListReply, LoggedAttempt, LoggedEvent, Trace } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import { byteLength } from "../../src/kernel/text.ts";
import { shortMerchant, type UiState } from "../state/state.ts";
import { copyText, makeCall } from "../state/updates.ts";
import { count, dateTime, milliseconds, plural, timeOfDay } from "../text/format.ts";
import { symbols } from "../text/style.ts";
import { copyApiKey } from "./controls/sandbox-forms.ts";
import { type DetailWriter, linkTo } from "./details/detail-lines.ts";
import { recordLinks } from "./details/record-links.ts";
import { attemptLines, reasonOf, requestText } from "./details/row-lines.ts";
import { outdatedTrace, traceCall, traceSection } from "./details/trace.ts";
import type { Detail } from "./overlays/detail.ts";
import { listPane, programCommand, readAs } from "./pane.ts";

/** `✓2 ✗1 ~1`: how many deliveries succeeded, failed and are pending. */
function deliveriesText({ theme }: UiState, { deliveries }: LoggedEvent): string {
  const { good, bad, unsure } = symbols(theme);
  const { succeeded, failed, cancelled, pending } = deliveries;
  const counts = Object.entries({ [bad]: failed + cancelled, [unsure]: pending, [good]: succeeded });
  return counts.flatMap(([mark, number]) => (number === 0 ? [] : [mark + count(number)])).join(" ") || "none";
}

const CAUSES: Readonly<Record<LoggedEvent["cause"], string>> = {
  request: "a request",
  clock: "the clock",
  control: "the control API",
};

/** The id of the record that the event is about. */
const recordOf = ({ body }: LoggedEvent): unknown => (body as { data?: { id?: unknown } | null }).data?.id;

/** `✗ 1 of 2 deliveries failed: 500 database is down`. `attempts` are newest first. */
function outcomeBand({ theme, band }: DetailWriter, { deliveries }: LoggedEvent, attempts: readonly LoggedAttempt[]) {
  const { good, bad, unsure } = symbols(theme);
  const { failed, cancelled, pending, succeeded } = deliveries;
  const total = failed + cancelled + pending + succeeded;
  const of = (number: number) => `${number === total ? "" : `${count(number)} of `}${plural(total, "delivery")}`;
  if (total === 0) return band(`${unsure} No endpoint is subscribed to it`, false);
  if (failed > 0) {
    const last = attempts.find(({ deliveryState }) => deliveryState === "failed");
    const reason = last ? `: ${reasonOf(last)}` : "";
    return band(`${bad} ${of(failed)} failed${reason}`, true);
  }
  if (cancelled > 0) return band(`${bad} ${of(cancelled)} cancelled`, true);
  return pending > 0 ? band(`${unsure} ${of(pending)} pending`, false) : band(`${good} ${of(total)} succeeded`, false);
}

const bodyOf = ({ body }: LoggedEvent) => JSON.stringify(body);

interface EventData {
  attempts: DeliveriesListReply;
  trace: Trace;
  /** Its newest version, once it has changed. */
  newest: LoggedEvent;
}

const eventDetail = (event: LoggedEvent): Detail<EventData> => ({
  title: `${event.type} ${event.id}`,
  fetch: {
    attempts: controlCalls.deliveries.list({ eventId: event.id, limit: 100 }),
    trace: traceCall(event.id),
  },
  outdated(data, state) {
    const trace = outdatedTrace(event.id, data, state);
    const isPending = (data.newest ?? event).deliveries.pending > 0;
    return { ...trace, ...((trace.trace || isPending) && { newest: controlCalls.events.get({ id: event.id }) }) };
  },
  lines({ attempts, trace, newest = event }, write, state) {
    const { width, body, field, section } = write;
    const isOfEvent = ({ eventId }: { eventId: string }) => eventId === event.id;
    const cause =
      event.request === null
        ? field("caused by", CAUSES[event.cause])
        : linkTo("requests", event.request, field("caused by", requestText(state, event.request)));
    return [
      ...outcomeBand(write, newest, attempts?.data ?? []),
      "",
      ...field("id", event.id),
      ...field("time", dateTime(milliseconds(event.created))),
      ...field("merchant", event.merchant),
      ...cause,
      ...section("Deliveries", attemptLines(state, attempts?.data ?? [], isOfEvent, width)),
      ...traceSection(write, trace, event.id),
      ...section("Records", recordLinks(write, "record", [recordOf(event)], event.merchant)),
      ...section("Body", body(bodyOf(event), byteLength(bodyOf(event)))),
    ];
  },
});

export const events = listPane<LoggedEvent>({
  name: "events",
  title: "Events",
  rowId: ({ id }) => id,
  filterBy: (event) => ({
    text: `${event.type} ${event.id} ${event.merchant} ${event.request ?? ""} ${bodyOf(event)}`,
    fields: { id: event.id, event: event.type, merchant: event.merchant, request: event.request },
  }),
  vocabulary: { fields: ["id", "event", "merchant", "request"], marks: [] },
  poll: controlCalls.events.list({ limit: 100 }),
  titleNote: () => "newest first",
  columns: (event, state) => [
    { heading: "time", text: timeOfDay(milliseconds(event.created)).slice(0, 8), rank: 2, styles: ["dim"] },
    { heading: "event", text: event.type, rank: 1, grows: true },
    {
      heading: "deliveries",
      text: deliveriesText(state, event),
      styles: event.deliveries.failed > 0 ? ["failure"] : ["dim"],
    },
    { heading: "caused by", text: event.request ?? CAUSES[event.cause], rank: 3, styles: ["dim"] },
    { heading: "merchant", text: shortMerchant(event.merchant), rank: 4, truncate: "middle" },
    { heading: "id", text: event.id, rank: 5, truncate: "middle", styles: ["dim"] },
  ],
  emptyText: (state) => ["No events yet. Press t, or run:", "", programCommand(state, "trigger payment.succeeded")],
  detail: eventDetail,
  fetchRow: (id) => readAs(controlCalls.events.get({ id }), (event) => event),
  isRelated: (one, other) => one.type === other.type,
  keys: [
    {
      keys: ["r"],
      label: "replay",
      help: "replay the event to every endpoint that is subscribed to its type",
      run: (state, { id, type }) =>
        makeCall(state, controlCalls.events.replay({ id }), ({ deliveries }) => ({
          message: `Replayed ${type} to ${plural(deliveries.length, "endpoint")}`,
        })),
    },
    {
      keys: ["Y"],
      label: "copy body",
      help: "copy the body of the event",
      run: (state, event) => copyText(state, bodyOf(event), "the body of the event"),
    },
    copyApiKey(({ merchant }) => merchant),
  ],
});
