// The sandbox's clock: read it, set it, advance it.

import { endpointFactory } from "../areas/declare/operation.ts";
import { LifeChange } from "../contracts/life.ts";
import { AttemptMessage, ClockState, type LiveEvent } from "../contracts/live-messages.ts";
import type { Judge } from "../judge/judge.ts";
import { type Clock, isoTime, LATEST_TIME } from "../kernel/clock.ts";
import { fail, SandboxError } from "../kernel/errors.ts";
import { pick } from "../kernel/pick.ts";
import type { Life } from "../life/life.ts";
import { oneOf, Type, timeText } from "../schema/shapes.ts";
import type { Stores } from "../store/stores.ts";
import type { Dispatcher } from "../webhooks/dispatcher.ts";
import { spanOf, timeOf } from "./given-values.ts";

interface Parts extends Pick<Stores, "idempotencyReplies"> {
  clock: Clock;
  dispatcher: Pick<Dispatcher, "listen">;
  life: Pick<Life, "listen">;
  judge: Pick<Judge, "resolveDue">;
  /** Sends an event to the live stream. */
  publish(event: LiveEvent): void;
  /** Stores the clock for later starts. */
  keepClock(): void;
}

const endpoint = endpointFactory<Parts>("Clock");

/** Stores the clock before the reply, so that a restart keeps what the reply has confirmed. */
function keep({ clock, keepClock }: Pick<Parts, "clock" | "keepClock">): void {
  try {
    keepClock();
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    fail(
      "sandbox_unavailable",
      `The clock is at ${isoTime(clock.now())}, but a restart would not know it: ${error.message}`,
    );
  }
}

const MOST_CHANGES = 10_000;

export const clockState = (clock: Clock) => ({ mode: clock.mode, now: isoTime(clock.now()), unix: clock.seconds() });

/** Publishes the new time, and returns it. */
export function publishClock({ clock, publish }: Pick<Parts, "clock" | "publish">) {
  const state = clockState(clock);
  publish({ kind: "clock", clock: state });
  return state;
}

const showClock = endpoint({
  id: "clock.get",
  method: "GET",
  path: "/clock",
  summary: "Get the sandbox time",
  reply: ClockState,
  handle: ({ clock }) => clockState(clock),
});

const setClock = endpoint({
  id: "clock.set",
  method: "PUT",
  path: "/clock",
  summary: "Freeze the clock, set it, or let it run",
  description: "A SQLite file also stores the clock. A later start without `--clock` continues it.",
  body: Type.Object({
    mode: oneOf(
      ["real", "frozen", "offset"],
      "`frozen` and `offset` start at `now` (default: the current sandbox time)",
    ),
    now: Type.Optional(Type.String({ description: "A time such as 2026-01-05T09:00:00Z; not allowed with `real`" })),
  }),
  example: { mode: "frozen", now: "2026-01-05T09:00:00Z" },
  reply: ClockState,
  errors: ["sandbox_unavailable"],
  handle({ clock, publish, keepClock, judge, body }) {
    const { mode = "real", now } = body;
    const time = timeOf("now", now);
    if (mode === "real" && time !== undefined)
      fail("validation_failed", "A real clock cannot be set; use mode offset to run from another time.");
    clock.set(mode, time);
    keep({ clock, keepClock });
    judge.resolveDue();
    return publishClock({ clock, publish });
  },
});

/** The reproducible fields of an attempt: equal calls on a frozen clock give equal values. */
const REPRODUCIBLE = [
  "id",
  "at",
  "merchant",
  "eventId",
  "eventType",
  "endpointId",
  "attempt",
  "status",
  "responseStatus",
  "errorCode",
  "nextAttemptAt",
] as const;

const PlayedAttempt = Type.Object(
  {
    ...pick(AttemptMessage.properties, REPRODUCIBLE),
    at: timeText("Sandbox time at which the attempt ended"),
  },
  { title: "played_attempt" },
);

const advanceClock = endpoint({
  id: "clock.advance",
  method: "POST",
  path: "/clock/advance",
  summary: "Advance the clock: everything due until then happens, in order, before the reply",
  description:
    "Stops early, at the time reached so far, if the client disconnects or the clock is set or reset meanwhile.",
  body: Type.Object({ by: Type.String({ description: "A duration such as 30s, 5m, 24h" }) }),
  example: { by: "24h" },
  reply: Type.Object({
    ...ClockState.properties,
    happened: Type.Array(LifeChange, {
      description: `The first ${MOST_CHANGES} changes that the clock made to records, in order`,
    }),
    omitted: Type.Integer({ description: "How many further changes were left out" }),
    attempts: Type.Array(PlayedAttempt, { description: "The delivery attempts that ended meanwhile, in order" }),
    expired: Type.Integer({ description: "How many stored Idempotency-Key responses expired" }),
  }),
  errors: ["invalid_state", "sandbox_unavailable"],
  async handle(context) {
    const { clock, body, gone } = context;
    const span = spanOf("by", body.by) ?? 0;
    let until = clock.now();
    const played = createRecorder(context);
    // Concurrent advances add up, and each reports the changes in its own span.
    const begin = () => {
      until = endOf(clock.now(), span);
      played.start();
      return until;
    };
    const outcome = await clock.advance(begin, gone).finally(played.stop);
    if (outcome === "closing")
      fail(
        "sandbox_unavailable",
        `The sandbox is closing: the clock has reached ${isoTime(clock.now())} of ${isoTime(until)}.`,
      );
    if (outcome !== "complete")
      fail(
        "invalid_state",
        `The clock was set before it had advanced to ${isoTime(until)}: it is ${isoTime(clock.now())} now. ` +
          "Advance it again.",
      );
    keep(context);
    context.judge.resolveDue();
    return { ...publishClock(context), ...played.result() };
  },
});

function endOf(now: number, span: number): number {
  if (now + span > LATEST_TIME)
    fail("validation_failed", `The clock goes no further than ${isoTime(LATEST_TIME)}; it is ${isoTime(now)} now.`);
  return now + span;
}

/** Records attempts and changes between `start` and `stop`. */
function createRecorder({
  dispatcher,
  life,
  idempotencyReplies,
}: Pick<Parts, "dispatcher" | "life" | "idempotencyReplies">) {
  const attempts: AttemptMessage[] = [];
  const happened: LifeChange[] = [];
  let omitted = 0;
  let expiredBefore = 0;
  let unsubscribe: (() => unknown)[] = [];
  const record = (change: LifeChange) => {
    if (happened.length < MOST_CHANGES) happened.push(change);
    else omitted++;
  };
  return {
    start() {
      expiredBefore = idempotencyReplies.expired();
      unsubscribe = [dispatcher.listen(({ message }) => attempts.push(message)), life.listen(record)];
    },
    stop: () => unsubscribe.forEach((end) => void end()),
    result: () => ({
      happened,
      omitted,
      attempts: inOrder(attempts).map(showAttempt),
      expired: idempotencyReplies.expired() - expiredBefore,
    }),
  };
}

/** Orders attempts by their end. Attempts that ended at the same moment are ordered by id, independent of timing. */
const inOrder = (attempts: AttemptMessage[]) =>
  attempts.sort((one, other) => one.at - other.at || (one.id < other.id ? -1 : 1));

const showAttempt = (message: AttemptMessage) => ({ ...pick(message, REPRODUCIBLE), at: isoTime(message.at) });

export const operations = [showClock, setClock, advanceClock];
