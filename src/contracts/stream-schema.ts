// Reads a message of the live stream from a server that may be of another version, or no sandbox at all.

import { nullable, oneOf, type TSchema, type TUnsafe, Type } from "../schema/shapes.ts";
import { matchesSchema } from "../schema/validator.ts";
import { KeptCounts, MadeCounts } from "./counts.ts";
import type { Firing } from "./fault.ts";
import { LESSON_EVENTS, type LessonMessage, STEP_ENDS } from "./lesson.ts";
import type { AttemptMessage, ClockMessage, LiveItem, LiveMessage, RequestMessage } from "./live-messages.ts";
import { PROOFS, VERDICTS, type VerdictMessage } from "./verdict.ts";

const text = Type.String();
const texts = Type.Array(Type.String());
const maybe = Type.Optional;
const maybeText = nullable(Type.String());
const count = Type.Integer({ minimum: 0 });
const number = Type.Number();
/** Milliseconds that a Date can hold: others have no text. */
const time = Type.Number({ minimum: -8.64e15, maximum: 8.64e15 });
const seconds = Type.Number({ minimum: -8.64e12, maximum: 8.64e12 });

// The declared types make the compiler hold the schemas to the interfaces.
const request: TUnsafe<RequestMessage> = Type.Object({
  ...{ id: text, at: time, method: text, path: text, query: text, operation: maybeText, merchant: maybeText },
  ...{ status: number, durationMs: number, idempotencyKey: maybeText, replayOf: maybeText, fault: maybeText },
});

const attempt: TUnsafe<AttemptMessage> = Type.Object({
  ...{
    id: text,
    sequence: number,
    delivery: number,
    at: time,
    merchant: text,
    endpointId: text,
    eventId: text,
    eventType: text,
    url: text,
    trigger: text,
  },
  ...{ attempt: number, maxAttempts: number, status: text, responseStatus: nullable(number), errorCode: maybeText },
  ...{ durationMs: nullable(number), nextAttemptAt: nullable(seconds), fault: maybeText },
});

const verdict: TUnsafe<VerdictMessage> = Type.Object({
  ...{ id: maybeText, rule: text, severity: oneOf(["error", "warning"], ""), verdict: oneOf(VERDICTS, ""), at: time },
  ...{ merchant: maybeText, operation: maybeText, says: text, hint: text, requests: texts, attempts: texts },
  ...{ calls: Type.Array(Type.Object({ request: text, connection: count, milliseconds: number })), provenBy: nullable(oneOf(PROOFS, "")) },
  ...{ milliseconds: Type.Record(Type.Number()), fault: maybeText },
});

const fault: TUnsafe<Omit<Firing, "target" | "outcome" | "eventId" | "endpointId" | "rotatedAt">> = Type.Object({
  ...{ ruleId: text, name: maybeText, action: text, form: maybeText, expect: texts, merchant: maybeText },
  ...{ requestId: maybeText, attemptId: maybeText, at: time },
});

const clock: TUnsafe<ClockMessage> = Type.Object({ mode: oneOf(["real", "frozen", "offset"], ""), now: text, unix: number });

const step = Type.Object({ lesson: text, step: number, how: oneOf(STEP_ENDS, ""), hints: number, at: time });
const lesson: TUnsafe<LessonMessage> = Type.Object({
  news: oneOf(LESSON_EVENTS, ""),
  learner: Type.Object({
    ...{ id: text, name: text, lesson: maybeText, title: maybeText, step: nullable(number), stepTitle: maybeText, steps: number },
    ...{ ticked: number, hints: number, hint: maybeText, since: time, elapsed: number, next: maybeText },
    ...{ left: Type.Array(step), version: number },
  }),
});

const items: Record<LiveItem["kind"], TSchema> = {
  request: Type.Object({ seq: count, nth: count, request }),
  attempt: Type.Object({ seq: count, nth: count, attempt }),
  verdict: Type.Object({ seq: count, nth: count, verdict }),
  fault: Type.Object({ seq: count, nth: count, fault }),
  clock: Type.Object({ seq: count, nth: count, clock }),
  lesson: Type.Object({ seq: count, nth: count, lesson }),
  reset: Type.Object({ seq: count, nth: count, merchant: maybeText }),
};

const merchant = Type.Object({ id: text, name: maybeText, email: maybeText, apiKeys: texts });
const sandbox = Type.Object({
  ...{ version: text, pid: number, baseUrl: text, clock, database: maybeText, merchants: Type.Array(merchant) },
  ...{ pendingDeliveries: number, made: MadeCounts, kept: KeptCounts, failedDeliveries: number },
});

const completeFor = Type.Object({ request: maybe(text), attempt: maybe(text), verdict: maybe(text) });
/** Each item is checked by itself, so that one of a newer kind costs no other. */
const list = Type.Array(Type.Unsafe<LiveItem>({ type: "object" }));
const messages: Record<LiveMessage["type"], TSchema> = {
  snapshot: Type.Object({ run: text, seq: count, made: MadeCounts, sandbox }),
  batch: Type.Object({ items: list }),
  digest: Type.Object({ seq: count, made: MadeCounts, completeFor, items: list }),
  gap: Type.Object({ from: count, to: count }),
};

export interface ReadMessage<Index> {
  /** Undefined if the whole message is of an unknown kind or shape. */
  message?: LiveMessage<Index>;
  /** How many messages, or items of the message, were left out. */
  unknown: number;
}

export function readLiveMessage<Index>(json: string): ReadMessage<Index> {
  const message = parse(json) as LiveMessage<Index> | undefined;
  if (!message || !matchesShape(messages, message.type, message)) return { unknown: 1 };
  if (message.type !== "batch" && message.type !== "digest") return { message, unknown: 0 };
  const known = message.items.filter((item) => matchesShape(items, item.kind, item));
  return { message: { ...message, items: known }, unknown: message.items.length - known.length };
}

const matchesShape = (shapes: Record<string, TSchema>, name: unknown, value: unknown) => {
  const shape = typeof name === "string" && Object.hasOwn(shapes, name) ? shapes[name] : undefined;
  return shape !== undefined && matchesSchema(shape, value);
};

function parse(json: string): { type?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
