// The sandbox's time: read it, set it, let it run, play a span of it.

import { type Clock, isoTime, LATEST, parseTime } from "../kernel/clock.ts";
import { fail } from "../kernel/errors.ts";
import { oneOf, Type } from "../kernel/shapes.ts";
import { readSpan } from "../kernel/span.ts";
import { control } from "./console.ts";

export const ClockState = Type.Object(
  {
    mode: oneOf(["real", "frozen", "offset"], "`real` runs with the machine, `frozen` stands, `offset` runs from another time"),
    now: Type.String({ description: "Sandbox time, RFC 3339" }),
    unix: Type.Integer({ description: "The same in Unix seconds, as `created` shows it" }),
  },
  { title: "clock" },
);

export const clockState = (clock: Clock) => ({ mode: clock.mode, now: isoTime(clock.now()), unix: clock.seconds() });

export const showClock = control({
  id: "clock.get",
  area: "Clock",
  method: "GET",
  path: "/clock",
  summary: "What time the sandbox believes it is",
  reply: ClockState,
  handle: ({ clock }) => clockState(clock),
});

export const setClock = control({
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
  handle({ clock, body }) {
    const { mode = "real", now } = body;
    const time = now === undefined ? undefined : parseTime(now);
    if (now !== undefined && time === undefined)
      fail("validation_failed", `now must be a time such as 2026-01-05T09:00:00Z; received ${JSON.stringify(now)}.`);
    if (mode === "real" && time !== undefined)
      fail("validation_failed", "A real clock cannot be set; use mode offset to run from another time.");
    clock.set(mode, time);
    return clockState(clock);
  },
});

export const advanceClock = control({
  id: "clock.advance",
  area: "Clock",
  method: "POST",
  path: "/clock/advance",
  summary: "Play a span of time: everything due in it happens, in order, before this answers",
  body: Type.Object({ by: Type.String({ description: "A span such as 30s, 5m, 24h" }) }),
  example: { by: "24h" },
  reply: ClockState,
  errors: ["validation_failed"],
  async handle({ clock, body: { by = "" } }) {
    const span = readSpan(by) ?? fail("validation_failed", `by must be a span such as 30s, 5m or 24h; received ${JSON.stringify(by)}.`);
    const until = clock.now() + span;
    if (until > LATEST) fail("validation_failed", `The clock goes no further than ${isoTime(LATEST)}; it is ${isoTime(clock.now())} now.`);
    await clock.advance(until);
    return clockState(clock);
  },
});
