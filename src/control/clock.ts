// The sandbox's time: read it, set it, let it run, play a span of it.

import type { AttemptMessage } from "../contracts/live-messages.ts";
import { type Clock, isoTime, LATEST_TIME, parseTime } from "../kernel/clock.ts";
import { tryParseDuration } from "../kernel/duration.ts";
import { fail } from "../kernel/errors.ts";
import { nullable, oneOf, Type } from "../schema/shapes.ts";
import { type ControlContext, endpoint } from "./control-context.ts";

const state = {
  mode: oneOf(["real", "frozen", "offset"], "`real` runs with the machine, `frozen` stands, `offset` runs from another time"),
  now: Type.String({ description: "Sandbox time, RFC 3339" }),
  unix: Type.Integer({ description: "The same in Unix seconds, as `created` shows it" }),
};

export const ClockState = Type.Object(state, { title: "clock" });

export const clockState = (clock: Clock) => ({ mode: clock.mode, now: isoTime(clock.now()), unix: clock.seconds() });

/** What the clock says now, told to those who watch too. */
function moved({ clock, tell }: Pick<ControlContext, "clock" | "tell">) {
  const present = clockState(clock);
  tell({ kind: "clock", clock: present });
  return present;
}

export const showClock = endpoint({
  id: "clock.get",
  area: "Clock",
  method: "GET",
  path: "/clock",
  summary: "What time the sandbox believes it is",
  reply: ClockState,
  handle: ({ clock }) => clockState(clock),
});

export const setClock = endpoint({
  id: "clock.set",
  area: "Clock",
  method: "PUT",
  path: "/clock",
  summary: "Freeze the clock, move it, or let it run",
  body: Type.Object({
    mode: oneOf(["real", "frozen", "offset"], "`frozen` and `offset` start from `now`, or from the present sandbox time"),
    now: Type.Optional(Type.String({ description: "A time such as 2026-01-05T09:00:00Z; not with `real`" })),
  }),
  example: { mode: "frozen", now: "2026-01-05T09:00:00Z" },
  reply: ClockState,
  errors: ["validation_failed"],
  handle({ clock, tell, body }) {
    const { mode = "real", now } = body;
    const time = now === undefined ? undefined : parseTime(now);
    if (now !== undefined && time === undefined)
      fail("validation_failed", `now must be a time such as 2026-01-05T09:00:00Z; received ${JSON.stringify(now)}.`);
    if (mode === "real" && time !== undefined)
      fail("validation_failed", "A real clock cannot be set; use mode offset to run from another time.");
    clock.set(mode, time);
    return moved({ clock, tell });
  },
});

const PlayedAttempt = Type.Object(
  {
    id: Type.String({ description: "Under which GET /_sandbox/deliveries/{id} tells the rest" }),
    at: Type.String({ description: "Sandbox time at which it ended" }),
    merchant: Type.String(),
    eventId: Type.String(),
    eventType: Type.String(),
    endpointId: Type.String(),
    attempt: Type.Integer(),
    status: Type.String(),
    responseStatus: nullable(Type.Integer()),
    errorCode: nullable(Type.String()),
    nextAttemptAt: nullable(Type.Integer({ description: "Unix seconds; null when there is no next attempt" })),
  },
  { title: "played_attempt" },
);

export const advanceClock = endpoint({
  id: "clock.advance",
  area: "Clock",
  method: "POST",
  path: "/clock/advance",
  summary: "Play a span of time: everything due in it happens, in order, before this answers",
  body: Type.Object({ by: Type.String({ description: "A span such as 30s, 5m, 24h" }) }),
  example: { by: "24h" },
  reply: Type.Object({
    ...state,
    attempts: Type.Array(PlayedAttempt, { description: "The delivery attempts that ended in this span, in order" }),
    forgotten: Type.Integer({ description: "How many answers remembered for an Idempotency-Key were forgotten" }),
  }),
  errors: ["validation_failed"],
  async handle({ clock, tell, dispatcher, idempotencyReplies, body: { by = "" } }) {
    const span =
      tryParseDuration(by) ?? fail("validation_failed", `by must be a span such as 30s, 5m or 24h; received ${JSON.stringify(by)}.`);
    const until = clock.now() + span;
    if (until > LATEST_TIME)
      fail("validation_failed", `The clock goes no further than ${isoTime(LATEST_TIME)}; it is ${isoTime(clock.now())} now.`);
    const attempts: AttemptMessage[] = [];
    const forgotten = idempotencyReplies.forgotten();
    const deafen = dispatcher.listen((attempt) => attempts.push(attempt));
    await clock.advance(until).finally(deafen);
    return {
      ...moved({ clock, tell }),
      attempts: inOrder(attempts).map(showAttempt),
      forgotten: idempotencyReplies.forgotten() - forgotten,
    };
  },
});

/** Attempts that ended in one moment stand in the order of their ids, so that no race shows. */
const inOrder = (attempts: AttemptMessage[]) => attempts.sort((one, other) => one.at - other.at || (one.id < other.id ? -1 : 1));

function showAttempt(told: AttemptMessage) {
  const { id, at, merchant, eventId, eventType, endpointId, attempt, status, responseStatus, errorCode, nextAttemptAt } = told;
  return { id, at: isoTime(at), merchant, eventId, eventType, endpointId, attempt, status, responseStatus, errorCode, nextAttemptAt };
}
