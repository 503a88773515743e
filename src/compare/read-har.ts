// Reads HAR 1.2 as browsers, proxies, test runners and the sandbox's own report write it.

import { readAnyTime } from "../kernel/clock.ts";
import { usageError } from "../kernel/errors.ts";
import { type HeaderValues, isObject, type JsonFields, type RecordedDelivery, type RecordedExchange, type Recording } from "./recording.ts";

/** `name` is how the entries of the recording are called. */
export function readHar(text: string, name: string): Recording {
  const document = parse(text, name);
  const log = isObject(document) ? document.log : undefined;
  const entries = isObject(log) ? log.entries : undefined;
  if (!Array.isArray(entries)) usageError(`${name} is no HAR: it has no log.entries. Export the recording as HAR 1.2.`);
  const exchanges = (entries as unknown[]).flatMap((entry, index) => readEntry(entry, `${name}#${index + 1}`) ?? []);
  // Our own reports list webhooks beside the calls, and proxies may see both.
  return {
    exchanges: exchanges.filter((exchange) => !isDelivery(exchange)),
    deliveries: exchanges.filter(isDelivery).map(deliveryOf),
  };
}

function parse(text: string, name: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    // The message of the parser quotes the text around the fault, which may be a secret.
    return usageError(`${name} is no HAR: it is not JSON. A recording that was cut off or edited cannot be read; export it again.`);
  }
}

interface Entry extends RecordedExchange {
  comment: string;
}

/** Undefined for what is no exchange over HTTP, such as a WebSocket or a malformed entry. */
function readEntry(entry: unknown, name: string): Entry | undefined {
  if (!isObject(entry) || !isObject(entry.request)) return undefined;
  const { request } = entry;
  const response = isObject(entry.response) ? entry.response : {};
  const url = urlOf(request.url);
  if (url === undefined || typeof request.method !== "string") return undefined;
  const headers = headersOf(request.headers);
  const text = isObject(request.postData) ? textOf(request.postData) : undefined;
  return {
    entry: name,
    method: request.method.toUpperCase(),
    url,
    at: readAnyTime(entry.startedDateTime),
    headers,
    text,
    body: jsonIn(text),
    bytes: typeof request.bodySize === "number" && request.bodySize >= 0 ? request.bodySize : Buffer.byteLength(text ?? ""),
    status: typeof response.status === "number" ? response.status : 0,
    responseHeaders: headersOf(response.headers),
    response: jsonIn(isObject(response.content) ? textOf(response.content) : undefined),
    comment: typeof entry.comment === "string" ? entry.comment : "",
  };
}

function urlOf(url: unknown): URL | undefined {
  if (typeof url !== "string" || !URL.canParse(url)) return undefined;
  const parsed = new URL(url);
  return /^https?:$/.test(parsed.protocol) ? parsed : undefined;
}

function headersOf(headers: unknown): HeaderValues {
  const found: Record<string, string> = Object.create(null);
  for (const header of Array.isArray(headers) ? headers : [])
    if (isObject(header) && typeof header.name === "string" && typeof header.value === "string")
      found[header.name.toLowerCase()] = header.value;
  return found;
}

/** The text of a body; binary content is base64. Empty texts count as absent: many exports drop bodies. */
function textOf({ text, encoding }: JsonFields): string | undefined {
  if (typeof text !== "string" || text === "") return undefined;
  return encoding === "base64" ? Buffer.from(text, "base64").toString("utf8") : text;
}

export function jsonIn(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isDelivery = ({ headers }: RecordedExchange) => headers["x-webhook-id"] !== undefined || headers["x-webhook-signature"] !== undefined;

const deliveryOf = ({ entry, at, url, headers, text = "", status, comment }: Entry): RecordedDelivery => ({
  entry,
  at,
  url: url.href,
  headers,
  text,
  status,
  attempt: Number(/attempt (\d+)\//.exec(comment)?.[1]) || undefined,
});
