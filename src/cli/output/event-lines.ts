// What happened, as one line for a person and as one object for a program.

import type { Firing } from "../../contracts/fault.ts";
import type { LessonMessage } from "../../contracts/lesson.ts";
import type { AttemptMessage, LiveEvent, RequestMessage, VerdictMessage } from "../../contracts/live-messages.ts";
import { isoTime } from "../../kernel/clock.ts";
import { escapeControlCharacters } from "../../kernel/escape-control.ts";

/** For a person: when, what, and the ids by which it is found again. */
export const lineOf = (happening: LiveEvent) => escapeControlCharacters(wordsOf(happening));

function wordsOf(happening: LiveEvent): string {
  switch (happening.kind) {
    case "request":
      return requestWords(happening.request);
    case "attempt":
      return attemptWords(happening.attempt);
    case "verdict":
      return verdictWords(happening.verdict);
    case "fault":
      return faultWords(happening.fault);
    case "clock":
      return `${happening.clock.now} clock ${happening.clock.mode}`;
    case "lesson":
      return lessonWords(happening.lesson);
    case "reset":
      return happening.merchant === null ? "reset: everything begins afresh" : `reset of ${happening.merchant}: it begins afresh`;
  }
}

function requestWords({ at, method, path, query, status, durationMs, merchant, id, replayOf }: RequestMessage): string {
  const target = query === "" ? path : `${path}?${query}`;
  const replayed = replayOf === null ? "" : ` replays ${replayOf}`;
  return `${isoTime(at)} ${method} ${target} ${status} ${durationMs.toFixed(1)}ms ${merchant ?? "-"} ${id}${replayed}`;
}

function attemptWords(attempt: AttemptMessage): string {
  const { at, eventType, eventId, url, responseStatus, errorCode, durationMs, merchant, id } = attempt;
  const answer = responseStatus ?? errorCode ?? "no answer";
  const took = durationMs === null ? "" : ` ${durationMs.toFixed(1)}ms`;
  const attempts = `${attempt.attempt}/${attempt.maxAttempts}`;
  return `${isoTime(at)} delivery of ${eventType} ${eventId} to ${url} ${attempts} ${answer}${took} ${merchant} ${id} ${endOf(attempt)}`;
}

function endOf({ status, nextAttemptAt }: AttemptMessage): string {
  if (status === "succeeded") return "delivered";
  return nextAttemptAt === null ? "given up" : `next at ${isoTime(nextAttemptAt * 1_000)}`;
}

function verdictWords({ at, verdict, rule, merchant, says, requests, attempts }: VerdictMessage): string {
  return `${isoTime(at)} verdict ${verdict} ${rule} ${merchant ?? "-"} ${[...requests, ...attempts].join(",")} ${says}`;
}

function faultWords({ at, ruleId, name, action, form, requestId, attemptId, merchant }: Firing): string {
  const rule = name === null ? ruleId : `${ruleId} (${name})`;
  const what = form === null ? action : `${action} ${form}`;
  return `${isoTime(at)} fault ${rule} ${what} hit ${requestId ?? attemptId ?? "nothing yet"} ${merchant ?? "-"}`;
}

function lessonWords({ news, learner: { name, id, lesson, title, step, steps, stepTitle } }: LessonMessage): string {
  const place = lesson === null ? "no lesson yet" : step === null ? `"${title}" is over` : `${lesson} ${step}/${steps} ${stepTitle}`;
  return `lesson: ${name} (${id}) ${news}; ${place}`;
}

/** For a program: the same with every field, times as text. */
export function factsOf(happening: LiveEvent): Record<string, unknown> {
  switch (happening.kind) {
    case "request":
      return requestFacts(happening.request);
    case "attempt":
      return { event: "delivery", ...happening.attempt, at: isoTime(happening.attempt.at) };
    case "verdict":
      return { event: "verdict", ...happening.verdict, at: isoTime(happening.verdict.at) };
    case "fault":
      return { event: "fault", ...happening.fault, at: isoTime(happening.fault.at) };
    case "clock":
      return { event: "clock", ...happening.clock };
    case "lesson":
      return { event: "lesson", ...happening.lesson };
    case "reset":
      return { event: "reset", merchant: happening.merchant };
  }
}

/** What a request does not have is left out. */
function requestFacts({ at, durationMs, ...request }: RequestMessage): Record<string, unknown> {
  const all = { event: "request", ...request, at: isoTime(at), duration: durationMs };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
}
