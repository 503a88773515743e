// Reads recordings: HAR 1.2 from browsers, proxies, test runners and the sandbox, and the logs of webhook receivers.

import { unzipSync } from "node:zlib";
import { attempt, tryParseJson } from "../kernel/attempt.ts";
import { readAnyTime } from "../kernel/clock.ts";
import { usageError } from "../kernel/errors.ts";
import { isObject, type JsonObject } from "../kernel/json-object.ts";
import { PROGRAM } from "../kernel/program-name.ts";
import { extentOf } from "../kernel/request-limits.ts";
import type { HeaderValues, RecordedDelivery, RecordedExchange, Recording } from "./recording.ts";

/** Bytes. Node cannot hold a longer string. */
export const LARGEST_FILE = 500_000_000;

/** Bytes. Limits compressed files, which may expand to much more than their size. */
const LARGEST_UNCOMPRESSED = 200_000_000;

const startsWith = (bytes: Uint8Array, ...start: number[]) => start.every((byte, index) => bytes[index] === byte);

/** The second byte of a zlib header, for each compression level. The first byte, 0x78, is also the letter x. */
const ZLIB_LEVELS = [0x01, 0x5e, 0x9c, 0xda];

/** The text of a recording, decompressed and decoded. `name` is the file's name in messages. */
export function recordingText(bytes: Uint8Array, name: string): string {
  if (startsWith(bytes, 0x50, 0x4b, 0x03, 0x04))
    usageError(`${name} is a zip archive. Unpack it, and compare the .har in it.`);
  if (startsWith(bytes, 0x1f, 0x8b) || ZLIB_LEVELS.some((level) => startsWith(bytes, 0x78, level)))
    return decode(uncompressed(bytes, name));
  return decode(bytes);
}

/** Decodes by the byte order mark, which the decoder removes. */
const decode = (bytes: Uint8Array): string => new TextDecoder(encodingOf(bytes)).decode(bytes);

function encodingOf(bytes: Uint8Array): string {
  if (startsWith(bytes, 0xff, 0xfe)) return "utf-16le";
  return startsWith(bytes, 0xfe, 0xff) ? "utf-16be" : "utf-8";
}

const uncompressed = (bytes: Uint8Array, name: string): Uint8Array =>
  attempt(() => unzipSync(bytes, { maxOutputLength: LARGEST_UNCOMPRESSED })) ??
  usageError(
    `${name} is compressed and cannot be decompressed: it is damaged, ` +
      `or holds more than ${LARGEST_UNCOMPRESSED} bytes. Compare the plain file.`,
  );

/** Reads the text of a file beside the recording, by its name; undefined if there is none. */
type ReadAttachment = (file: string) => string | undefined;

/** Reads a HAR. `name` is the prefix of its entries' names. */
export function readHar(text: string, name: string, readAttachment?: ReadAttachment): Recording {
  const document = tryParseJson(text);
  // Omits the parser's message, because it would quote the text around the error, which may contain a secret.
  if (document === undefined)
    usageError(
      `${name} is not a HAR: it is not JSON. A recording that was cut off or edited cannot be read; export it again.`,
    );
  const log = isObject(document) ? document.log : undefined;
  const entries = isObject(log) ? log.entries : undefined;
  if (!Array.isArray(entries))
    usageError(`${name} is not a HAR: it has no log.entries. Export the recording as HAR 1.2.`);
  const exchanges = (entries as unknown[]).flatMap(
    (entry, index) => readEntry(entry, `${name}#${index + 1}`, readAttachment) ?? [],
  );
  // The sandbox's own recordings contain calls and webhooks. Recordings of a proxy may contain both too.
  return {
    exchanges: exchanges.filter((exchange) => !isDelivery(exchange)),
    deliveries: exchanges.filter(isDelivery).map(deliveryOf),
  };
}

interface Entry extends RecordedExchange {
  comment: string;
}

/** Reads an entry; undefined if it is malformed, or is not an HTTP exchange, such as a WebSocket. */
function readEntry(entry: unknown, name: string, readAttachment?: ReadAttachment): Entry | undefined {
  if (!isObject(entry) || !isObject(entry.request)) return undefined;
  const { request } = entry;
  const response = isObject(entry.response) ? entry.response : {};
  const url = urlOf(request.url);
  if (url === undefined || typeof request.method !== "string") return undefined;
  const sent = bodyIn(request.postData, readAttachment);
  return {
    entry: name,
    method: request.method.toUpperCase(),
    url,
    at: readAnyTime(entry.startedDateTime),
    duration: typeof entry.time === "number" && entry.time >= 0 ? entry.time : Number.NaN,
    headers: headersOf(request.headers),
    text: sent.text,
    body: sent.json,
    bytes: typeof request.bodySize === "number" && request.bodySize >= 0 ? request.bodySize : sent.bytes,
    status: typeof response.status === "number" ? response.status : 0,
    responseHeaders: headersOf(response.headers),
    response: bodyIn(response.content, readAttachment).json,
    isCached: isCached(entry),
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

/** Whether the response came from the browser's cache, as Chrome and Safari mark it. */
const isCached = ({ _fromCache: fromCache, _fetchType: fetchType }: JsonObject) =>
  typeof fromCache === "string" || (typeof fetchType === "string" && /cache/i.test(fetchType));

/** Characters. Larger bodies are ignored: no operation has one, and parsing a body of 100 MB takes a gigabyte. */
export const LARGEST_BODY = 10_000_000;
/** Levels of nested JSON. Comparing deeper values would overflow the stack. */
const MOST_DEPTH = 200;

/** Whether a text has too few brackets to nest too deep. For most bodies, this replaces a check ten times as slow. */
function hasFewBrackets(text: string): boolean {
  let count = 0;
  for (const bracket of ["{", "["])
    for (let at = text.indexOf(bracket); at !== -1 && count <= MOST_DEPTH; at = text.indexOf(bracket, at + 1)) count++;
  return count <= MOST_DEPTH;
}

function bodyIn(held: unknown, readAttachment: ReadAttachment = () => undefined) {
  const text = isObject(held) ? textOf(held, readAttachment) : undefined;
  const bytes = Buffer.byteLength(text ?? "");
  const isRead =
    text !== undefined && text.length <= LARGEST_BODY && (hasFewBrackets(text) || extentOf(text).levels <= MOST_DEPTH);
  return isRead ? { text, json: tryParseJson(text), bytes } : { text: undefined, json: undefined, bytes };
}

/**
 * The text of a body, decoded from base64 if it is binary. An empty text counts as absent, because many exports drop
 * bodies.
 */
function textOf({ text, encoding, _file: file }: JsonObject, readAttachment: ReadAttachment): string | undefined {
  // Playwright can store bodies in files beside the recording. Only plain names are allowed, because a path could lead
  // to any file.
  if (typeof file === "string" && /^[\w-]+(\.\w+)*$/.test(file)) return readAttachment(file) || undefined;
  if (typeof text !== "string" || text === "") return undefined;
  return encoding === "base64" ? Buffer.from(text, "base64").toString("utf8") : text;
}

const isDelivery = ({ headers }: RecordedExchange) =>
  headers["x-webhook-id"] !== undefined || headers["x-webhook-signature"] !== undefined;

const deliveryOf = ({ entry, at, url, headers, text = "", body, status, comment }: Entry): RecordedDelivery => ({
  entry,
  at,
  url: url.href,
  headers,
  text,
  event: body,
  status,
  attempt: Number(/attempt (\d+)\//.exec(comment)?.[1]) || undefined,
});

export function readWebhooks(text: string, name: string): RecordedDelivery[] {
  const lines = text.split("\n");
  // The last line may be cut off if the receiver was stopped while writing.
  const isCut = !text.endsWith("\n") && tryParseJson(lines.at(-1)) === undefined;
  const complete = isCut ? lines.slice(0, -1) : lines;
  return complete
    .flatMap((line, index) => (line.trim() === "" ? [] : [readLine(line, `${name}#${index + 1}`)]))
    .filter(({ text: body }) => body.length <= LARGEST_BODY);
}

function readLine(line: string, entry: string): RecordedDelivery {
  const found = tryParseJson(line);
  if (!isObject(found) || typeof found.body !== "string" || !isObject(found.headers))
    return usageError(
      `${entry} is not a delivery: each line needs at, url, headers and body, ` +
        `like the lines of ${PROGRAM} receive --log.`,
    );
  const headers = Object.entries(found.headers).map(
    ([name, value]) => [name.toLowerCase(), typeof value === "string" ? value : JSON.stringify(value)] as const,
  );
  return {
    entry,
    at: readAnyTime(found.at),
    url: typeof found.url === "string" ? found.url : "",
    headers: Object.fromEntries(headers),
    text: found.body,
    event: bodyIn({ text: found.body }).json,
    status: typeof found.status === "number" ? found.status : undefined,
    attempt: undefined,
  };
}
