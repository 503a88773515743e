// Formats an event as one line of text, or as one JSON object.

import { type Firing, INLINE_RULE } from "../../contracts/fault.ts";
import type { LearnerState, LessonMessage } from "../../contracts/lesson.ts";
import type { AttemptMessage, LiveEvent, RequestMessage } from "../../contracts/live-messages.ts";
import type { VerdictMessage } from "../../contracts/verdict.ts";
import { isoTime } from "../../kernel/clock.ts";
import { escapeControlCharacters } from "../../kernel/text.ts";

/** Formats an event as a line with its time and the ids for looking it up. */
export const eventLine = (event: LiveEvent) => escapeControlCharacters(textOf(event));

function textOf(event: LiveEvent): string {
  switch (event.kind) {
    case "request":
      return requestText(event.request);
    case "attempt":
      return attemptText(event.attempt);
    case "verdict":
      return verdictText(event.verdict);
    case "fault":
      return faultText(event.fault);
    case "clock":
      return `${event.clock.now} clock ${event.clock.mode === "offset" ? "set" : event.clock.mode}`;
    case "lesson":
      return lessonText(event.lesson);
    case "reset":
      return event.merchant === null ? "reset of everything" : `reset of ${event.merchant}`;
    case "cancellation":
      return `the pending deliveries to ${event.endpoint} of ${event.merchant} were cancelled`;
    case "removal":
      return `${event.merchant} was removed`;
  }
}

export function requestText(request: RequestMessage): string {
  const { at, method, path, query, status, durationMs, merchant, id, replayOf, fault, ignored } = request;
  const target = query === "" ? path : `${path}?${query}`;
  const call =
    `${isoTime(at)} ${method} ${target} ${status || "no response"} ${durationMs.toFixed(1)}ms ${merchant ?? "-"} ` +
    `${id}`;
  const rule = fault === INLINE_RULE ? "by X-Sandbox-Inject" : fault;
  return call + markText("replays", replayOf) + markText("fault", rule) + markText("ignored", ignored);
}

const markText = (name: string, value: string | null) => (value === null ? "" : ` ${name} ${value}`);

export function attemptText(attempt: AttemptMessage): string {
  const { at, eventType, eventId, url, responseStatus, errorCode, durationMs, merchant, id } = attempt;
  const result = responseStatus ?? errorCode ?? "no response";
  const took = durationMs === null ? "" : ` ${durationMs.toFixed(1)}ms`;
  const attempts = `${attempt.attempt}/${attempt.maxAttempts}`;
  return (
    `${isoTime(at)} delivery of ${eventType} ${eventId} to ${url} ${attempts} ${result}${took} ${merchant} ${id} ` +
    `${endOf(attempt)}`
  );
}

function endOf({ status, nextAttemptAt }: AttemptMessage): string {
  if (status === "succeeded") return "delivered";
  return nextAttemptAt === null ? "given up" : `next at ${isoTime(nextAttemptAt * 1_000)}`;
}

export function verdictText({ id, at, verdict, rule, merchant, message, requests, attempts }: VerdictMessage): string {
  const start = `${isoTime(at)} verdict ${verdict} ${rule} ${merchant ?? "-"} ${id ?? "not-final"}`;
  const evidence = [...requests, ...attempts].join(",");
  // Some messages already begin with the id of the only delivery that they are about.
  return message.startsWith(`${evidence} `) ? `${start} ${message}` : `${start} ${evidence}: ${message}`;
}

function faultText({ at, ruleId, name, action, form, requestId, attemptId, merchant }: Firing): string {
  const rule = name === null ? ruleId : `${ruleId} (${name})`;
  const what = form === null ? action : `${action} ${form}`;
  return `${isoTime(at)} fault ${rule} ${what} hit ${requestId ?? attemptId ?? "nothing yet"} ${merchant ?? "-"}`;
}

function lessonText({ news, learner: { name, id, lesson, title, step, steps, stepTitle } }: LessonMessage): string {
  const reached = step === null ? `"${title}" is complete` : `${lesson} ${step}/${steps} ${stepTitle}`;
  const place = lesson === null ? "no lesson yet" : reached;
  return `lesson: ${name} (${id}) ${news}; ${place}`;
}

/** The event as an object with all of its fields and ISO times. A request has no null fields. */
export function eventObject(event: LiveEvent): Record<string, unknown> {
  if (event.kind === "request") {
    const all = { event: "request", ...event.request, at: isoTime(event.request.at) };
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
  }
  if (event.kind === "lesson")
    return { event: "lesson", ...event.lesson, learner: learnerObject(event.lesson.learner) };
  const { kind, ...fields } = event as { kind: string } & Record<string, unknown>;
  // Most kinds have one field of the same name that describes the event.
  const about = (fields[kind] ?? fields) as { at?: number };
  return {
    event: kind === "attempt" ? "delivery" : kind,
    ...about,
    ...(about.at !== undefined && { at: isoTime(about.at) }),
  };
}

const learnerObject = ({ since, finishedSteps, ...learner }: LearnerState) => ({
  ...learner,
  since: isoTime(since),
  finishedSteps: finishedSteps.map((step) => ({ ...step, at: isoTime(step.at) })),
});
