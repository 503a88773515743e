// Builds and sends the reply of a request: a result, an error of the API, or a 500 for a defect of the sandbox.

import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { MeasuredBehaviour } from "../contracts/fact.ts";
import { afterRealTime, httpDate } from "../kernel/clock.ts";
import { ApiError, type ErrorBody, SandboxError } from "../kernel/errors.ts";
import { maskedJson } from "../kernel/mask.ts";
import { NO_ASSUMPTIONS, shownError } from "../store/assumptions.ts";
import type { Reply, RequestContext } from "./context.ts";
import { awaitsContinue, endResponse } from "./unread-body.ts";

/** Headers that make browsers treat a response only as data. */
export const SAFE_HEADERS = {
  "X-Content-Type-Options": "nosniff",
  "Cross-Origin-Resource-Policy": "same-origin",
} as const;

export function errorReply(context: RequestContext, error: ApiError): Reply {
  const { status, ...names } = shownError(context.assumed, error.code);
  context.errorCode = error.code;
  // HTTP requires WWW-Authenticate on a 401.
  Object.assign(context.headers, status === 401 ? { "WWW-Authenticate": "Bearer" } : {}, error.headers);
  // Messages quote the request, so mask secrets that were sent in the wrong field.
  const body = errorBody(error, names, context.sequence > 0 ? context.id : undefined);
  return { status, body: maskedJson(body) };
}

function errorBody(
  { message, details }: ApiError,
  { error, code }: Pick<ErrorBody, "error" | "code">,
  requestId?: string,
): ErrorBody {
  return { error, message, code, details: requestId === undefined ? details : { ...details, requestId } };
}

/**
 * The reply for an error thrown by a stage. Any error but an ApiError is a defect of the sandbox: it is reported, and
 * the client gets a 500.
 */
export function failureReply(
  context: RequestContext,
  error: unknown,
  report: (error: unknown, context: RequestContext) => void,
): Reply {
  if (error instanceof ApiError) return errorReply(context, error);
  report(error, context);
  if (error instanceof SandboxError && (error.code === "database_missing" || error.code === "database_damaged"))
    return errorReply(context, new ApiError(error.code, error.message));
  return errorReply(context, new ApiError("internal_error", `${whyOf(error)} Nothing of this request was kept.`));
}

const whyOf = (error: unknown) =>
  error instanceof SandboxError
    ? error.message
    : "The sandbox itself failed; its log has the details: please report it.";

/** Sends a 500 after sending the reply failed. Closes the connection if a part of the reply has been sent. */
export function sendFailure(
  context: RequestContext,
  error: unknown,
  report: (error: unknown, context: RequestContext) => void,
): void {
  const { outgoing, headers } = context;
  for (const name of Object.keys(headers)) delete headers[name];
  context.reply = failureReply(context, error, report);
  if (!outgoing.headersSent) send(context, context.reply);
  else if (!outgoing.writableEnded) outgoing.destroy();
}

/**
 * Calls `sendReply`, and sends a 500 if that fails. Nothing awaits a request, so an error thrown here would end the
 * process.
 */
export function sendOrFail(
  context: RequestContext,
  sendReply: () => void | Promise<void>,
  report: (error: unknown, context: RequestContext) => void,
): Promise<void> | undefined {
  const failed = (error: unknown) => sendFailure(context, error, report);
  try {
    return sendReply()?.catch(failed);
  } catch (error) {
    failed(error);
  }
  return undefined;
}

export function send(context: RequestContext, reply: Reply, rateHeaders: Record<string, string> = {}): void {
  if (writeHead(context, reply, rateHeaders))
    endResponse(context, context.incoming.method === "HEAD" ? undefined : reply.body);
}

/** Writes the status and headers of a reply. Returns false if the connection is closed. */
export function writeHead(context: RequestContext, reply: Reply, rateHeaders: Record<string, string>): boolean {
  const { incoming, outgoing } = context;
  if (outgoing.destroyed) return false;
  context.sentHeaders = {
    Date: httpDate(context.at),
    ...(reply.status === 204
      ? {}
      : { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(reply.body) }),
    ...(context.sequence > 0 ? { "X-Sandbox-Request-Id": context.id } : {}),
    ...SAFE_HEADERS,
    ...rateHeaders,
    ...context.headers,
  };
  if (awaitsContinue(incoming)) context.sentHeaders.Connection = "close";
  context.answeredAfter = context.elapsed();
  outgoing.sendDate = false;
  outgoing.writeHead(reply.status, context.sentHeaders);
  return true;
}

/**
 * Real milliseconds before the socket is destroyed. If it were destroyed at once, a client that is still sending could
 * lose the response.
 */
const READ_TIMEOUT = 2_000;

/**
 * Writes an error to a socket that Node no longer serves as HTTP, then closes the socket. Destroys it after a timeout
 * if the client neither reads nor closes.
 */
export function endWithError(socket: Duplex, error: ApiError): void {
  const body = maskedJson(errorBody(error, shownError(NO_ASSUMPTIONS, error.code)));
  const headers = {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
    ...SAFE_HEADERS,
    ...error.headers,
    Connection: "close",
  };
  const head = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
    ...Object.entries(headers).map((header) => header.join(": ")),
  ];
  const cancelTimeout = afterRealTime(READ_TIMEOUT, () => socket.destroy());
  socket.once("close", cancelTimeout);
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
  // Discards the rest of the request, because closing with unread bytes would reset the connection.
  socket.resume();
}

export const behaviours: MeasuredBehaviour[] = [
  {
    id: "errors.vocabulary",
    fact:
      "Errors always have all four fields: `error` is a category, `code` the condition and `details.errors` the " +
      "fields at fault; `details.requestId` is the request in the log. " +
      "Requests with a foreign host or origin, and requests that are not valid HTTP, are not in the log.",
    why:
      "The service's documentation requires only `error` and shows no values of `error` and `code`, " +
      "not even for 429.",
    facts: ["message", "code", "details", "details.requestId"].map((field) => ({
      id: `error.${field}`,
      kind: "field",
      value: "always",
    })),
  },
  {
    id: "errors.two_errors",
    fact:
      "The five operations with two error responses answer 404 for an unknown id, " +
      "and 409 if the record's state, or another record, forbids the change.",
    why: "The service's documentation lists two errors for them without their statuses; these two fit all five.",
  },
];
