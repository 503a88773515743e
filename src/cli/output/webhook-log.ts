// The log of `receive --log`: one JSON line per webhook, as it arrived, for `compare --webhooks`.

import { appendFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { machineTime } from "../../kernel/clock.ts";
import { usageError } from "../../kernel/errors.ts";

export type WebhookLog = (incoming: IncomingMessage, body: Buffer, status: number) => void;

/** Appends to the file, which only its owner can read: bodies are kept as they are, because the signature covers their bytes. */
export function openWebhookLog(file: string): WebhookLog {
  const append = (text: string) => appendFileSync(file, text, { mode: 0o600 });
  try {
    append("");
  } catch (error) {
    usageError(`Cannot write ${file} (${(error as NodeJS.ErrnoException).code}). --log takes a file that can be written.`);
  }
  return ({ url, method, headers: { authorization: _, cookie: __, ...headers } }, body, status) =>
    append(`${JSON.stringify({ at: machineTime(), method, url, headers, body: body.toString("utf8"), status })}\n`);
}
