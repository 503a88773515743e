// Timelines: a record with everything that touched it, newest first.

import { endpointFactory } from "../areas/declare/operation.ts";
import type { RecordBase, Resource } from "../contracts/resource.ts";
import { TimelineStep } from "../contracts/trace.ts";
import { isoTime, realDelay } from "../kernel/clock.ts";
import { fail } from "../kernel/errors.ts";
import { pick } from "../kernel/pick.ts";
import type { Life } from "../life/life.ts";
import { nullableText, pageSize, Type, text, timeText } from "../schema/shapes.ts";
import type { RequestRow } from "../store/request-log/read-requests.ts";
import type { Stores } from "../store/stores.ts";
import type { StoredAttempt } from "../store/webhooks/attempts.ts";
import type { LoggedEvent } from "../store/webhooks/event-log.ts";
import { AnyRecord, operationContextFor, type RecordParts } from "./records.ts";
import { attemptStep, eventStep, requestStep } from "./trace-steps.ts";

interface Parts extends RecordParts, Pick<Stores, "requestLog" | "eventLog" | "attempts" | "dueRecords"> {
  life: Pick<Life, "isOn">;
}

const endpoint = endpointFactory<Parts>("Records");

/** The number of requests read at once. The bodies of each have up to 32 KiB. */
const CHUNK = 500;
const MOST_OTHERS = 10;

const Timeline = Type.Object(
  {
    id: Type.String(),
    merchant: nullableText("Its owner; null for a record that is gone"),
    record: Type.Union([AnyRecord, Type.Null()], { description: "Null for a record that is gone" }),
    references: Type.Record(Type.String(), { description: "The fields that refer to another record, with its id" }),
    others: Type.Array(Type.String(), { description: "Other merchants that have a record with this id, at most 10" }),
    next: Type.Union([Type.Object({ at: timeText("Sandbox time"), status: Type.String() }), Type.Null()], {
      description: "The next change that the clock makes; null if none is scheduled",
    }),
    steps: Type.Array(TimelineStep, { description: "Newest first" }),
    has_more: Type.Boolean({ description: "Whether older steps were left out" }),
  },
  { title: "timeline" },
);

const showTimeline = endpoint({
  id: "timelines.get",
  method: "GET",
  path: "/timelines/{id}",
  exampleParams: { id: "pay_pending" },
  summary: "Get a record by its id, with everything that touched it: requests, events, deliveries, and the clock",
  description:
    "A request touched a record if its path or query names the record; a write also touched each record that its " +
    "body or response names. An event touched a record if its body names it. A reset clears these logs.",
  query: Type.Object({
    merchant: Type.Optional(text("The owner (default: the first merchant that has such a record)")),
    limit: pageSize(),
  }),
  reply: Timeline,
  errors: ["resource_not_found", "invalid_limit"],
  async handle({ params: { id }, query: { merchant, limit = 25 }, gone, ...context }) {
    const owner = merchant === undefined ? undefined : context.tenants.requireOrFirst(merchant);
    const found = findRecord(context, id, owner);
    const steps = await readSteps(context, { id, merchant: found?.merchant ?? owner ?? null, limit }, gone);
    if (!found && steps.length === 0)
      fail(
        "resource_not_found",
        `${owner === undefined ? "No merchant has a" : `${owner} has no`} record ${id}, and no request or event in ` +
          "the logs names it. A reset removes records that were made since the start, and clears the logs.",
      );
    return {
      ...{ id, merchant: null, record: null, references: {}, others: [], next: null },
      ...found,
      steps: steps.slice(0, limit),
      has_more: steps.length > limit,
    };
  },
});

/** Finds the record in the kind that the prefix of its id names. Without a known prefix, searches all kinds. */
function findRecord(context: Parts, id: string, merchant: string | undefined) {
  const visible = context.resources.filter(({ hidden }) => hidden.length === 0);
  const prefixed = visible.filter(({ prefix }) => id.startsWith(`${prefix}_`));
  for (const resource of prefixed.length > 0 ? prefixed : visible) {
    const owners = context.tenants.ownersOf(resource.kind, id, MOST_OTHERS + 1);
    const owner = owners.find((one) => one === merchant) ?? (merchant === undefined ? owners[0] : undefined);
    if (owner === undefined) continue;
    const { own } = operationContextFor(context, owner);
    const record = own(resource).require(id);
    return {
      merchant: owner,
      record: { ...record },
      references: referencesOf(resource, record),
      others: owners.filter((one) => one !== owner),
      next: nextChange(context, owner, resource, record),
    };
  }
  return undefined;
}

const referencesOf = ({ references }: Resource, record: RecordBase): Record<string, string> =>
  Object.fromEntries(
    Object.keys(references).flatMap((field) => {
      const value = record[field as keyof RecordBase] as unknown;
      return typeof value === "string" ? [[field, value]] : [];
    }),
  );

function nextChange(context: Parts, merchant: string, resource: Resource, record: RecordBase) {
  const due = context.life.isOn ? context.dueRecords.dueOf({ merchant, kind: resource.kind, id: record.id }) : null;
  const { own } = operationContextFor(context, merchant);
  const next = due === null ? undefined : resource.states[record.status ?? ""]?.next?.({ record, own });
  return due === null || !next ? null : { at: isoTime(due), status: next.status };
}

interface Wanted {
  id: string;
  merchant: string | null;
  limit: number;
}

/** Reads one step more than the limit, to know whether older ones were left out. */
async function readSteps(context: Parts, wanted: Wanted, gone: AbortSignal | undefined) {
  const requests = await requestsNaming(context, wanted, gone);
  const events = context.eventLog.naming(wanted.id, wanted.merchant, wanted.limit + 1);
  const attemptsOf = ({ id, merchant }: LoggedEvent) =>
    context.attempts.log(merchant, { eventId: id, limit: 100 }).data.map((attempt) => ({ attempt, event: id }));
  return inOrder(wanted.id, requests, events, events.flatMap(attemptsOf)).slice(0, wanted.limit + 1);
}

/** Finds the requests that name the record. Between two chunks of the log, the process serves other requests. */
async function requestsNaming(
  { requestLog }: Pick<Parts, "requestLog">,
  { id, merchant, limit }: Wanted,
  gone: AbortSignal | undefined,
): Promise<RequestRow[]> {
  const isNamed = new RegExp(`(?<![\\w-])${id.replace(/[^\w]/g, "\\$&")}(?![\\w-])`);
  const found: RequestRow[] = [];
  for (let before = Number.MAX_SAFE_INTEGER; ; await realDelay(0)) {
    const { rows, floor } = requestLog.naming({ id, merchant, before }, CHUNK);
    // The search of the log also finds longer ids that begin with this one.
    found.push(
      ...rows.filter((row) =>
        [row.path, row.query, row.requestBody, row.responseBody].some((one) => isNamed.test(one)),
      ),
    );
    if (floor === null || found.length > limit || gone?.aborted) return found.slice(0, limit + 1);
    before = floor;
  }
}

interface Placed {
  step: TimelineStep;
  /** Sandbox milliseconds. */
  at: number;
  /** Orders steps with the same time, as on a frozen clock: by event, and within one event by cause and effect. */
  place: readonly [event: number, rank: number, order: number];
}

/** The steps, newest first. `requests` and `events` are newest first. */
function inOrder(
  id: string,
  requests: readonly RequestRow[],
  events: readonly LoggedEvent[],
  attempts: readonly { attempt: StoredAttempt; event: string }[],
): TimelineStep[] {
  const numbers = new Map(events.map((event, index) => [event.id, events.length - index]));
  const placed = [
    ...placeRequests(requests, events, numbers),
    ...events.map((event) => placeEvent(id, event, numbers.get(event.id) ?? 0)),
    ...attempts.map(({ attempt, event }, index): Placed => {
      const failed = attempt.status !== "succeeded";
      const place = [numbers.get(event) ?? 0, RANKS.attempt, attempts.length - index] as const;
      return { step: { ...pick(attemptStep(attempt), SHOWN), failed }, at: attempt.at, place };
    }),
  ];
  return placed.toSorted((one, other) => other.at - one.at || compare(other.place, one.place)).map(({ step }) => step);
}

const SHOWN = ["kind", "id", "at", "text", "result"] as const;

/** The steps of one event: the request that caused it, the event, its attempts, and then the requests after it. */
const RANKS = { cause: 0, event: 1, attempt: 2, later: 3 };

function placeRequests(
  requests: readonly RequestRow[],
  events: readonly LoggedEvent[],
  numbers: ReadonlyMap<string, number>,
): Placed[] {
  const firstEvents = new Map(events.flatMap(({ id, request }) => (request === null ? [] : [[request, id]])));
  let number = 0;
  return requests.toReversed().map((row) => {
    const caused = numbers.get(firstEvents.get(row.id) ?? "");
    number = caused ?? number;
    const failed = row.status === 0 || row.status >= 400;
    const rank = caused === undefined ? RANKS.later : RANKS.cause;
    return { step: { ...pick(requestStep(row), SHOWN), failed }, at: row.at, place: [number, rank, row.sequence] };
  });
}

function placeEvent(record: string, event: LoggedEvent, number: number): Placed {
  const step = { ...pick(eventStep(event), SHOWN), failed: false };
  const about = (JSON.parse(event.body) as { data?: { id?: unknown } }).data?.id;
  const text = typeof about === "string" && about !== record ? `${step.text} of ${about}` : step.text;
  const kind = event.origin === "clock" ? ("clock" as const) : step.kind;
  return { step: { ...step, kind, text }, at: event.created, place: [number, RANKS.event, 0] };
}

const compare = (one: Placed["place"], other: Placed["place"]) =>
  one[0] - other[0] || one[1] - other[1] || one[2] - other[2];

export const operations = [showTimeline];
