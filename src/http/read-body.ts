// Reads the request body and checks its type, size and JSON. The body of a GET or HEAD request is ignored.

import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { MeasuredBehaviour } from "../contracts/fact.ts";
import { nextTurn } from "../kernel/clock.ts";
import { fail, SandboxError } from "../kernel/errors.ts";
import { isObject } from "../kernel/json-object.ts";
import { mask } from "../kernel/mask.ts";
import { extentOf, MAX_BODY, MAX_DEPTH, MAX_VALUES } from "../kernel/request-limits.ts";
import { Type } from "../schema/shapes.ts";
import { assumedValue, settableFact } from "../store/assumptions.ts";
import { refuseLiveKey } from "./authenticate.ts";
import { contextOf, type RequestContext, type Stage } from "./context.ts";
import { announcesBody, awaitsContinue } from "./unread-body.ts";

/** The most bytes of a body that the sandbox reads. */
export const bodyBytesFact = settableFact<number>(
  "http.body_bytes",
  "limit",
  MAX_BODY,
  Type.Integer({ minimum: 1, maximum: MAX_BODY }),
);

export const readBody: Stage = (request, _response, next) => {
  if (request.method === "GET" || request.method === "HEAD" || !announcesBody(request)) return next();
  const context = contextOf(request);
  const length = Number(request.headers["content-length"] ?? 0);
  const receiving = request.readableEnded ? takeRead(context, length) : receive(context, length);
  return receiving.then(() => next());
};

/** Takes a body that middleware of the app has read before the sandbox. */
async function takeRead(context: RequestContext, length: number): Promise<void> {
  const { incoming, headers } = context;
  const most = assumedValue(context.assumed, bodyBytesFact);
  checkType(incoming);
  if (length > most) refuseSize(context, length);
  const read = readElsewhere(incoming);
  if (read === undefined)
    throw new SandboxError(
      "Middleware in front of the sandbox read the request body and kept neither request.body nor request.rawBody. " +
        "Mount the sandbox before it.",
    );
  if (read.text.length > most) refuseSize(context, read.text.length);
  if (!read.isOriginal) headers["X-Sandbox-Request-Body"] = "reserialized";
  await take(context, read.text);
}

/**
 * A body that middleware such as express.json() has read: the bytes that it kept as `rawBody`, or the value in `body`,
 * serialised again. Undefined if it kept neither.
 */
export function readElsewhere(incoming: IncomingMessage): { text: string; isOriginal: boolean } | undefined {
  const { rawBody, body } = incoming as { rawBody?: unknown; body?: unknown };
  const original = [rawBody, body].find((kept) => Buffer.isBuffer(kept) || typeof kept === "string");
  if (Buffer.isBuffer(original)) return { text: decode(original), isOriginal: true };
  if (typeof original === "string") return { text: original, isOriginal: true };
  return body === undefined ? undefined : { text: JSON.stringify(body), isOriginal: false };
}

async function receive(context: RequestContext, length: number): Promise<void> {
  const isAwaitingContinue = awaitsContinue(context.incoming);
  if (length > 0 || isAwaitingContinue) checkType(context.incoming);
  if (length > assumedValue(context.assumed, bodyBytesFact)) refuseSize(context, length);
  if (isAwaitingContinue && !hasContinued(context.outgoing)) context.outgoing.writeContinue();
  const bytes = await collect(context);
  // Trailers are headers that follow a chunked body.
  for (const trailer of context.incoming.rawTrailers) refuseLiveKey(trailer);
  if (bytes.length > 0) await take(context, decode(bytes));
}

/** Whether Node has sent `100 Continue` itself, as it does on an app's server. Reads an internal property of Node. */
const hasContinued = (outgoing: ServerResponse) => (outgoing as { _sent100?: boolean })._sent100 === true;

async function take(context: RequestContext, text: string): Promise<void> {
  // Must run before the body is stored anywhere.
  refuseLiveKey(text);
  context.bodyText = text;
  if (isLong(text)) await nextTurn();
  context.body = parse(text);
}

const LONGEST_TURN = 65_536;
const isLong = (text: string) => text.length > LONGEST_TURN;

/** Lets other requests take their turn between the steps of a request with a long body. */
export const yieldIfLong: Stage = (request, _response, next) =>
  isLong(contextOf(request).bodyText) ? nextTurn().then(() => next()) : next();

/** Uses events, because an async iterator costs more than all other work on a small body. */
function collect(context: RequestContext): Promise<Buffer> {
  const { incoming } = context;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const most = assumedValue(context.assumed, bodyBytesFact);
    const take = (chunk: Buffer) => {
      try {
        if (size === 0) checkType(incoming);
        size += chunk.length;
        if (size > most) refuseSize(context, size);
        chunks.push(chunk);
      } catch (error) {
        incoming.off("data", take);
        reject(error);
      }
    };
    incoming.on("data", take);
    incoming.once("end", () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    incoming.once("error", reject);
  });
}

/**
 * Requires application/json. Rejects a missing type too, because a web page can send a body without one, and without a
 * CORS preflight.
 */
function checkType(incoming: IncomingMessage): void {
  const encoding = incoming.headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity")
    fail("unsupported_content_encoding", `Send the body plain, without Content-Encoding; received ${quote(encoding)}.`);
  const type = incoming.headers["content-type"];
  if (type === undefined || !isJsonType(type))
    fail(
      "unsupported_media_type",
      `Send the body as Content-Type: application/json; received ${type === undefined ? "none" : quote(type)}.`,
    );
}

/**
 * Whether a Content-Type is JSON in UTF-8. Splits the text, because a regular expression takes quadratic time on a long
 * run of spaces.
 */
export function isJsonType(type: string): boolean {
  if (type === "application/json") return true;
  const [essence, charset = "", ...rest] = type.split(";").map((part) => part.trim().toLowerCase());
  const [name, value = ""] = charset.split("=").map((part) => part.trim());
  return (
    essence === "application/json" &&
    (charset === "" || (name === "charset" && /^"?utf-?8"?$/.test(value))) &&
    rest.join("") === ""
  );
}

function refuseSize(context: RequestContext, size: number): never {
  const limit = assumedValue(context.assumed, bodyBytesFact);
  context.incoming.pause();
  fail(
    "payload_too_large",
    `The body may have ${limit} bytes at most; received ${size} or more.`,
    { limit },
    { Connection: "close" },
  );
}

function decode(bytes: Buffer): string {
  if (!isUtf8(bytes)) fail("invalid_json", "The body is not valid UTF-8.");
  const text = bytes.toString("utf8");
  // Some editors and runtimes write a byte order mark.
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}

function parse(text: string): Record<string, unknown> {
  const { levels, values } = extentOf(text);
  if (levels > MAX_DEPTH) fail("body_too_deep", `The body may nest ${MAX_DEPTH} levels deep at most.`);
  if (values > MAX_VALUES)
    fail(
      "payload_too_large",
      `The body may hold ${MAX_VALUES} fields and elements at most; received about ${values}.`,
      {
        limit: MAX_VALUES,
      },
    );
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    fail("invalid_json", `The body is not valid JSON: ${reasonOf(error as Error, text)}.`);
  }
  if (!isObject(value))
    fail(
      "body_not_object",
      "The body must be a JSON object; " +
        `received ${Array.isArray(value) ? "an array" : mask(JSON.stringify(value), 60)}.`,
    );
  return value as Record<string, unknown>;
}

/**
 * V8's message quotes the text around the error, and masking would miss a secret that the quote cuts. Removes the quote
 * if the text contains a secret or is too long to search.
 */
const reasonOf = ({ message }: Error, text: string) =>
  text.length <= LONGEST_QUOTED && mask(text) === text ? message : message.replace(/, (?:\.\.\.)?".*$/s, "");
const LONGEST_QUOTED = 16_384;

const quote = (text: string) => JSON.stringify(mask(text, 100));

export const behaviours: MeasuredBehaviour[] = [
  {
    id: "http.bodies",
    fact:
      "A body must be a JSON object in UTF-8 with `Content-Type: application/json`, uncompressed, " +
      "of at most 1 MiB, 32 levels and 20,000 fields and elements; " +
      "otherwise 400, 413 or 415. An empty body counts as `{}`. " +
      "A change that makes a record longer than 2 MiB gets 400.",
    why: "The service's documentation says that bodies are JSON and gives no bounds.",
    facts: [bodyBytesFact],
  },
];
