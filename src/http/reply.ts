// Turns what the pipe ended with into bytes: an answer, an error of the service, or a defect of ours.

import { httpDate } from "../kernel/clock.ts";
import { ApiError, type ErrorBody, errors, SandboxError } from "../kernel/errors.ts";
import { redactText } from "../kernel/redact.ts";
import type { Reply, RequestContext } from "./context.ts";

/** The headers that keep a browser from reading an answer as anything but data. */
export const SAFE_HEADERS = {
  "X-Content-Type-Options": "nosniff",
  "Cross-Origin-Resource-Policy": "same-origin",
} as const;

export function errorReply(context: RequestContext, error: ApiError): Reply {
  // A 401 that names no scheme would be no whole answer.
  Object.assign(context.headers, error.status === 401 ? { "WWW-Authenticate": "Bearer" } : {}, error.headers);
  // Messages quote what was received; a secret that was sent in the wrong place is not repeated.
  return { status: error.status, body: redactText(JSON.stringify(errorBody(error, context.sequence > 0 ? context.id : undefined))) };
}

export function errorBody(error: ApiError, requestId: string | undefined): ErrorBody {
  const details = requestId === undefined ? error.details : { ...error.details, requestId };
  return { error: errors[error.code].error, message: error.message, code: error.code, details };
}

/** What a failed stage answers. Anything that is no ApiError is a defect of ours: `report` gets it whole, the client a 500. */
export function failureReply(context: RequestContext, error: unknown, report: (error: unknown, context: RequestContext) => void): Reply {
  if (error instanceof ApiError) return errorReply(context, error);
  report(error, context);
  return errorReply(context, new ApiError("internal_error", `${whyOf(error)} Nothing of this request was kept.`));
}

const whyOf = (error: unknown) =>
  error instanceof SandboxError ? error.message : "The sandbox itself failed; its log has the details: please report it.";

export function send(context: RequestContext, reply: Reply, rateHeaders: Record<string, string> = {}): void {
  if (writeHead(context, reply, rateHeaders)) context.outgoing.end(context.incoming.method === "HEAD" ? undefined : reply.body);
}

/** Writes status and headers of a reply whose body follows; false when nobody is there any more. */
export function writeHead(context: RequestContext, reply: Reply, rateHeaders: Record<string, string>): boolean {
  const { outgoing } = context;
  if (outgoing.destroyed) return false;
  context.sentHeaders = {
    Date: httpDate(context.at),
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(reply.body),
    ...(context.sequence > 0 ? { "X-Sandbox-Request-Id": context.id } : {}),
    ...SAFE_HEADERS,
    ...rateHeaders,
    ...context.headers,
  };
  outgoing.sendDate = false;
  outgoing.writeHead(reply.status, context.sentHeaders);
  return true;
}
