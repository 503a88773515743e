// Reads a message of the live stream. The server may have another version, or not be a sandbox.

import { type LiveMessage, liveEvents, liveMessages, livePlace } from "../contracts/live-messages.ts";
import { tryParseJson } from "../kernel/attempt.ts";
import type { TSchema } from "../schema/shapes.ts";
import { matchesSchema } from "../schema/validator.ts";

export interface ReadMessage<Index> {
  /** Undefined if the whole message is of an unknown kind or shape. */
  message?: LiveMessage<Index>;
  /** The number of unknown messages, or unknown items in the message. */
  unknown: number;
}

export function readLiveMessage<Index>(json: string): ReadMessage<Index> {
  const message = tryParseJson(json) as LiveMessage<Index> | null | undefined;
  if (typeof message !== "object" || message === null || !matchesShape(liveMessages, message.type, message))
    return { unknown: 1 };
  if (message.type !== "batch" && message.type !== "digest") return { message, unknown: 0 };
  const known = message.items.filter(
    (item) => matchesSchema(livePlace, item) && matchesShape(liveEvents, item.kind, item),
  );
  return { message: { ...message, items: known }, unknown: message.items.length - known.length };
}

function matchesShape(shapes: Readonly<Record<string, TSchema>>, name: unknown, value: unknown): boolean {
  const shape = typeof name === "string" && Object.hasOwn(shapes, name) ? shapes[name] : undefined;
  return shape !== undefined && matchesSchema(shape, value);
}
