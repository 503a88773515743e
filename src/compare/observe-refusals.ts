// Observations from errors: the status, category and code of each recognised condition, bodies that only the sandbox
// accepts, and unknown routes.

import { errors } from "../kernel/errors.ts";
import { grouped } from "../kernel/grouped.ts";
import { isObject } from "../kernel/json-object.ts";
import { conditionOf } from "./conditions.ts";
import type { CallPattern } from "./find-base.ts";
import { type CallContext, isAction } from "./history.ts";
import type { ObservationLog } from "./observations.ts";
import { namedFields, observeInvalidFields } from "./observe-invalid-fields.ts";
import { isMovedLimit, observeRefusedLimit } from "./observe-lists.ts";
import { type ObservationContext, observeObject } from "./observe-values.ts";
import { errorIn } from "./read-replies.ts";
import { type ComparedSandbox, type RecordedCall, type RecordedExchange, refused, succeeded } from "./recording.ts";
import type { ShownTexts } from "./shown-texts.ts";

/** An error whose condition is not recognised. */
export interface Unexplained {
  /** The operation's id, or the method and path if no operation matches. */
  operation: string;
  status: number;
  code: string;
}

export function observeRefusal(
  context: CallContext,
  sandbox: ComparedSandbox,
  log: ObservationLog,
): Unexplained | undefined {
  const { call, knowledge } = context;
  const where: ObservationContext = { log, knowledge, entry: call.entry, operation: call.operation.id };
  const condition = TOO_LARGE.includes(call.status) ? undefined : conditionOf(context);
  if (condition !== undefined && succeeded(call)) {
    // Recorded elsewhere: an accepted invalid body contradicts the facts about its fields, and an accepted limit
    // outside the bounds contradicts the bounds.
    const isOther = condition === "validation_failed" || (condition === "invalid_limit" && !isMovedLimit(call));
    if (!isOther) log.compare(`error.${condition}.status`, call.status, { ...where, lenient: "service" });
    return undefined;
  }
  if (!refused(call) || (call.response === undefined && call.status !== 429)) return undefined;
  if (isObject(call.response) && !call.foreign.error) {
    log.compare("error.envelope", call.envelope ?? "none", where);
    observeObject(where, "error", sandbox.error, observeInvalidFields(context, where, call.response));
  }
  if (condition !== undefined) {
    observeError(condition, call, where, call.foreign.error);
    if (condition === "invalid_limit") observeRefusedLimit(call, where);
    return undefined;
  }
  return observeUnexplained(context, where);
}

function observeError(
  condition: string,
  { status, response }: RecordedExchange,
  { log, ...where }: Pick<ObservationContext, "log" | "entry" | "operation">,
  isForeign = false,
): void {
  const id = `error.${condition}`;
  log.compare(`${id}.status`, status, where);
  const { error, code } = errorIn(response, log.shown).error;
  if (typeof error === "string" && !isForeign) log.compare(`${id}.category`, log.shown.code(error), where);
  if (typeof code === "string") log.compare(`${id}.code`, log.shown.code(code), where);
}

/** The error's code in a response, or else its category; empty without an error. */
function codeIn(response: unknown, shown: ShownTexts): string {
  const { code, error } = errorIn(response, shown).error;
  return code === undefined && error === undefined ? "" : shown.code(code ?? error);
}

/** Statuses of requests that are too large, whatever their operation. */
const TOO_LARGE: readonly number[] = [413, 414, 431];

/** Statuses that depend on the caller, the record or the size of the request, and not on the fields of the body. */
const NOT_OF_FIELDS = new Set([401, 403, 404, 405, 409, 410, 429, ...TOO_LARGE]);

function observeUnexplained(context: CallContext, where: ObservationContext): Unexplained | undefined {
  const { call, problems } = context;
  const { operation, url, status, response } = call;
  const { shown } = where.log;
  const unexplained = { operation: operation.id, status, code: codeIn(response, shown) };
  if (NOT_OF_FIELDS.has(status)) return unexplained;
  if ([...url.searchParams.keys()].join() === "limit") {
    observeRefusedLimit(call, where);
    return undefined;
  }
  const { error } = errorIn(response, shown);
  const named = namedFields(context, error);
  // An action may be refused because of the record's state, so the body explains it only if the error names a field.
  if (!operation.body || !isObject(call.body) || problems.length > 0 || (isAction(call) && named.length === 0))
    return unexplained;
  observeRefusedBody(call, named, error.code, where);
  return undefined;
}

/**
 * Observes the rejection of a body that the sandbox's schema accepts. The error code tells whether the sandbox has the
 * same rule.
 */
function observeRefusedBody(
  call: RecordedCall,
  named: readonly string[],
  code: unknown,
  where: ObservationContext,
): void {
  const { operation, body, status } = call;
  const { log } = where;
  const place = `${operation.id}.body`;
  const lenient = { ...where, lenient: "sandbox" as const };
  const sent = body as object;
  const missing = named.filter((field) => !Object.hasOwn(sent, field));
  for (const field of missing)
    if (log.fact(`${place}.${field}.required`)) log.compare(`${place}.${field}.required`, true, lenient);
    else log.record(`${place}.accepted`, `${log.shown.code(field)} is required`, false, lenient);
  const unknown = named.filter((field) => Object.hasOwn(sent, field) && !log.fact(`${place}.${field}`));
  if (unknown.length > 0) log.compare(`${place}.other_fields`, "refused", lenient);
  // The sandbox has rules beyond the schema. If the service answers with one of the sandbox's codes, it has the same
  // rule.
  if (missing.length + unknown.length > 0 || (typeof code === "string" && Object.hasOwn(errors, code))) return;
  log.record(
    `${place}.accepted`,
    code === undefined ? String(status) : `${status} ${log.shown.code(code)}`,
    false,
    lenient,
  );
}

/** A call below the base address that matches no operation. */
export interface StrayCall {
  exchange: RecordedExchange;
  path: string;
  /** The method, and the path without its ids. */
  endpoint: string;
}

/** Statuses that depend on the caller. The service may have the endpoint, and only refuse it to this caller. */
const FOR_THE_CALLER = new Set([401, 403, 429]);

/**
 * Observes unknown paths and methods. A path or method is unknown to the service only if every call of it fails in the
 * same way. Otherwise the service may have the endpoint.
 */
export function observeRoutes(
  strays: readonly StrayCall[],
  routes: readonly CallPattern[],
  log: ObservationLog,
): Unexplained[] {
  const answerOf = ({ exchange: { status, response } }: StrayCall) => `${status} ${codeIn(response, log.shown)}`;
  return [...grouped(strays, ({ endpoint }) => endpoint)].flatMap(([endpoint, calls]) => {
    const isAlways = new Set(calls.map(answerOf)).size === 1;
    return calls.flatMap(({ exchange, path }) => {
      if (!refused(exchange)) return [];
      const { status, response, entry } = exchange;
      const hasPath = routes.some(({ pattern }) => pattern.test(path));
      const isUnknown = isAlways && !FOR_THE_CALLER.has(status) && (hasPath || !endpoint.includes("{id}"));
      if (!isUnknown) return { operation: endpoint, status, code: codeIn(response, log.shown) };
      observeError(hasPath ? "method_not_allowed" : "route_not_found", exchange, { log, entry });
      return [];
    });
  });
}
