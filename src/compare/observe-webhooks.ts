// Observations from webhooks: headers, events and their types, the form of the signature, and the retry schedule.

import type { ServiceFact } from "../contracts/fact.ts";
import { grouped } from "../kernel/grouped.ts";
import { isObject, type JsonObject } from "../kernel/json-object.ts";
import { digestOf, formsOfSignature, signatureForms, wordsOf } from "../kernel/signature-forms.ts";
import { type Fact, factOf } from "../schema/assumed.ts";
import type { Knowledge, ObservationLog } from "./observations.ts";
import { type ObservationContext, observeListed, observeListedValues, observeObject } from "./observe-values.ts";
import { readObject } from "./read-replies.ts";
import { type ComparedSandbox, type RecordedCall, type RecordedDelivery, succeeded } from "./recording.ts";
import { isMasked } from "./shown-texts.ts";

const HEADERS = ["X-Webhook-Signature", "X-Webhook-Id", "X-Webhook-Event"];

export function observeWebhooks(
  deliveries: readonly RecordedDelivery[],
  sandbox: ComparedSandbox,
  calls: readonly RecordedCall[],
  knowledge: Knowledge,
  log: ObservationLog,
): void {
  const types = eventTypes(sandbox, calls, log);
  for (const delivery of deliveries) {
    const { entry, event } = delivery;
    if (observeSignature(delivery, knowledge, log))
      for (const name of HEADERS)
        log.compare(
          `webhook.header.${name}`,
          delivery.headers[name.toLowerCase()] === undefined ? "absent" : "sent",
          delivery,
        );
    if (isObject(event)) observeEvent({ log, knowledge, entry }, event, sandbox, types, delivery.at);
  }
  observeSchedule(deliveries, log);
}

function observeEvent(
  where: ObservationContext,
  event: JsonObject,
  { event: schema, eventKinds, records }: ComparedSandbox,
  types: ReturnType<typeof eventTypes>,
  at: number,
): void {
  observeObject(where, "event", schema, event);
  const { type } = event;
  const data = recordIn(event.data);
  if (data !== event.data) where.log.shapes.note("events", "a record below data", where.entry);
  // A test event has the type and the data that the client sent.
  if (typeof type !== "string" || isTestData(data)) return;
  observeListed(where, types.listed, type);
  const own = types.named(type) ?? types.emittedFor(data, at);
  if (own !== undefined && types.named(type) === undefined)
    where.log.record(`event.type.values.${own}`, where.log.shown.code(type), false, where);
  const record = records.get(eventKinds.get(own ?? "") ?? "");
  if (!record || !isObject(data)) return;
  const { response, foreign } = readObject(where.log, data, "", record, where.entry);
  if (isObject(response)) (foreign.records ? observeListedValues : observeObject)(where, "", record, response);
}

/** The record of an event: its data or, if the data has no id, an object in the data that has one. */
function recordIn(data: unknown): unknown {
  if (!isObject(data) || data.id !== undefined) return data;
  return Object.values(data).find((value) => isObject(value) && value.id !== undefined) ?? data;
}

/**
 * Finds the sandbox's type for an event: by the event's name, or by the last write before the event whose response
 * shows the same record.
 */
function eventTypes({ eventKinds }: ComparedSandbox, calls: readonly RecordedCall[], log: ObservationLog) {
  const byName = new Map(
    [...eventKinds.keys()].map((type) => [String(log.fact(`event.type.values.${type}`)?.value ?? type), type]),
  );
  const writes = grouped(
    calls.filter((call) => succeeded(call) && call.operation.emits.length > 0),
    ({ record }) => (isObject(record) ? String(record.id) : ""),
  );
  return {
    listed: log.listed("event.type", [...eventKinds.keys()]),
    named: (type: string) => byName.get(type),
    emittedFor(data: unknown, at: number): string | undefined {
      const id = isObject(data) ? data.id : undefined;
      const last = typeof id === "string" ? writes.get(id)?.findLast((call) => call.at <= at + SKEW) : undefined;
      const { emits = [] } = last?.operation ?? {};
      return emits.length === 1 ? factOf(emits[0] as Fact<string>) : undefined;
    },
  };
}

/** Milliseconds by which the clocks of the receiver and of the recorder may differ. */
const SKEW = 5_000;

const isTestData = (data: unknown) => isObject(data) && data.id === undefined && data.object === undefined;

/** The contents that a service may sign: some include a time or the event's id. */
function contentsOf({ text, headers }: RecordedDelivery, header: string): Readonly<Record<string, string>> {
  const id = headers["x-webhook-id"] ?? "";
  const time = headers["x-webhook-timestamp"] ?? /\bt=(\d+)/.exec(header)?.[1];
  const timed: Record<string, string> =
    time === undefined ? {} : { "time and body": `${time}.${text}`, "id, time and body": `${id}.${time}.${text}` };
  return { body: text, "id and body": `${id}.${text}`, ...timed };
}

const SIGNATURE = "x-webhook-signature";

/**
 * Observes the signature, which may be in another header or of another form than the sandbox's. Returns false if the
 * sandbox cannot send such a signature.
 */
function observeSignature(delivery: RecordedDelivery, { secrets }: Knowledge, log: ObservationLog): boolean {
  const { entry, event, headers } = delivery;
  for (const name of headers[SIGNATURE] === undefined ? Object.keys(headers) : [SIGNATURE]) {
    const value = headers[name] as string;
    if (isMasked(value)) continue;
    const form = [...secrets].map((secret) => signatureForm(delivery, value, secret)).find(Boolean);
    const isForeign =
      name !== SIGNATURE && (form === undefined ? /\bv\d=/.test(value) : !signatureForms.includes(form));
    if (isForeign)
      log.shapes.note(
        "signature",
        `${log.shown.code(name)}: ${form ?? "of a secret that the recording does not show"}`,
        entry,
      );
    if (isForeign) return false;
    if (form !== undefined && event !== undefined && !isMasked(delivery.text) && name === SIGNATURE)
      log.compare("webhook.signature.key", form, { entry });
  }
  return true;
}

/**
 * The form of the signature; undefined if no known form matches, for example because the secret belongs to another
 * endpoint.
 */
function signatureForm(delivery: RecordedDelivery, header: string, secret: string): string | undefined {
  const contents = contentsOf(delivery, header);
  for (const form of formsOfSignature(Object.keys(contents))) {
    const digest = digestOf(form, secret, contents[form.content] as string);
    if (header.includes(digest)) return `${wordsOf(form)}${header === digest ? "" : ", among other text"}`;
  }
  return undefined;
}

/**
 * Allowed difference between a gap and the schedule, for jitter and network time: this share of the gap, but at least
 * LEAST_TOLERANCE seconds.
 */
const TOLERANCE = 0.12;
const LEAST_TOLERANCE = 0.75;

function observeSchedule(deliveries: readonly RecordedDelivery[], log: ObservationLog): void {
  const idOf = ({ headers, event }: RecordedDelivery) =>
    headers["x-webhook-id"] ?? (isObject(event) ? event.id : undefined);
  const timed = deliveries
    .filter((one) => !Number.isNaN(one.at) && idOf(one) !== undefined)
    .sort((one, other) => one.at - other.at);
  const groups = grouped(timed, (one) => `${idOf(one)} ${one.url}`);
  for (const group of groups.values()) observeAttempts(group, timed.at(-1)?.at ?? 0, log);
}

/** Observes the seconds before each retry of a delivery, up to its success or the end of the recording. */
function observeAttempts(attempts: readonly RecordedDelivery[], end: number, log: ObservationLog): void {
  const fact = log.fact("retry.schedule");
  if (!fact) return;
  const expected = fact.value as readonly number[];
  const seen: number[] = [];
  // Attempts after a success, or with numbers out of order, are replays outside the schedule.
  const isOfSchedule = ({ status, attempt }: RecordedDelivery, index: number) =>
    !succeeded({ status: status ?? 0 }) && (attempt ?? index + 1) === index + 1;
  for (const [index, delivery] of attempts.entries()) {
    const next = attempts[index + 1];
    if (!isOfSchedule(delivery, index)) break;
    const own = expected[index] ?? 0;
    const tolerance = Math.max(LEAST_TOLERANCE, own * TOLERANCE);
    if (next === undefined) {
      const isOver = own > 0 && end - delivery.at > (own * 2 + tolerance) * 1_000 && delivery.status !== undefined;
      if (isOver) log.record(fact, seen, false, delivery);
      if (isOver) return;
      break;
    }
    if ((next.attempt ?? index + 2) !== index + 2) break;
    const gap = (next.at - delivery.at) / 1_000;
    seen.push(Math.abs(gap - own) <= tolerance ? own : Math.round(gap));
  }
  if (seen.length > 0) recordGaps(fact, seen, attempts[seen.length] as RecordedDelivery, log);
}

/** Records the gaps. They confirm the schedule if they equal its beginning. */
function recordGaps(fact: ServiceFact, seen: readonly number[], where: RecordedDelivery, log: ObservationLog): void {
  const expected = fact.value as readonly number[];
  const agrees = seen.every((gap, index) => gap === expected[index]);
  log.record(fact, agrees ? expected : seen, agrees, where);
}
