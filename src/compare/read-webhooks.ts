// Reads the log of a webhook receiver: one JSON object per line, as `receive --log` writes it.

import { readAnyTime } from "../kernel/clock.ts";
import { usageError } from "../kernel/errors.ts";
import { jsonIn, LARGEST_BODY } from "./read-har.ts";
import { isObject, type RecordedDelivery } from "./recording.ts";

export function readWebhooks(text: string, name: string): RecordedDelivery[] {
  const lines = text.split("\n");
  // The last line may be cut off: its receiver was stopped while it wrote.
  const isCut = !text.endsWith("\n") && jsonIn(lines.at(-1)) === undefined;
  const complete = isCut ? lines.slice(0, -1) : lines;
  return complete
    .flatMap((line, index) => (line.trim() === "" ? [] : [readLine(line, `${name}#${index + 1}`)]))
    .filter(({ text: body }) => body.length <= LARGEST_BODY);
}

function readLine(line: string, entry: string): RecordedDelivery {
  const found = jsonIn(line);
  if (!isObject(found) || typeof found.body !== "string" || !isObject(found.headers))
    return usageError(`${entry} is no delivery: each line needs at, url, headers and body, as merchant-sandbox receive --log writes them.`);
  const headers = Object.entries(found.headers).map(([name, value]) => [name.toLowerCase(), String(value)] as const);
  return {
    entry,
    at: readAnyTime(found.at),
    url: typeof found.url === "string" ? found.url : "",
    headers: Object.fromEntries(headers),
    text: found.body,
    status: typeof found.status === "number" ? found.status : undefined,
    attempt: undefined,
  };
}
