// Observations from refusals: the status, category and code of each recognised condition, and bodies that only the sandbox accepts.

import { errors } from "../kernel/errors.ts";
import { conditionOf } from "./conditions.ts";
import type { HeldCall } from "./history.ts";
import { observeRefusedLimit } from "./observe-lists.ts";
import { type ObservationContext, observeObject } from "./observe-values.ts";
import { type ComparedSandbox, isObject, type JsonFields, refused, succeeded } from "./recording.ts";
import { type Sightings, shownCode } from "./sightings.ts";

/** A refusal whose condition compare does not recognise. */
export interface Unexplained {
  operation: string;
  status: number;
  code: string;
}

export function observeRefusal(held: HeldCall, sandbox: ComparedSandbox, sightings: Sightings): Unexplained | undefined {
  const { call, knowledge } = held;
  const where: ObservationContext = { sightings, knowledge, entry: call.entry, operation: call.operation.id };
  const condition = conditionOf(held);
  if (condition !== undefined && succeeded(call)) {
    // Bodies that the service accepts contradict the facts of their fields.
    if (condition !== "validation_failed") sightings.see(`error.${condition}.status`, call.status, false, { ...where, lenient: "service" });
    return undefined;
  }
  if (!refused(call) || (call.response === undefined && call.status !== 429)) return undefined;
  if (isObject(call.response)) observeObject(where, "error", sandbox.error, call.response);
  if (condition !== undefined) {
    observeError(condition, call, where);
    if (condition === "invalid_limit") observeRefusedLimit(call, where);
    return undefined;
  }
  return observeUnexplained(held, where);
}

function observeError(condition: string, { status, response }: HeldCall["call"], { sightings, ...where }: ObservationContext): void {
  const id = `error.${condition}`;
  sightings.compare(`${id}.status`, status, where);
  const { error, code } = errorIn(response);
  if (typeof error === "string") sightings.compare(`${id}.category`, shownCode(error), where);
  if (typeof code === "string") sightings.compare(`${id}.code`, shownCode(code), where);
}

/** The error of a response: the response itself, or the first object in it that has a code. */
export function errorIn(response: unknown): JsonFields {
  if (!isObject(response)) return {};
  const inner = Object.values(response).flatMap((value) => (Array.isArray(value) ? value.slice(0, 1) : [value]));
  const isError = (value: unknown): value is JsonFields =>
    isObject(value) && (typeof value.code === "string" || typeof value.error === "string");
  return isError(response) ? response : (inner.find(isError) ?? response);
}

const CALLER_OR_RECORD = new Set([401, 403, 404, 405, 409, 410, 429]);

function observeUnexplained({ call, problems }: HeldCall, where: ObservationContext): Unexplained | undefined {
  const { operation, url, status, response } = call;
  const error = errorIn(response);
  const code = isObject(response) ? shownCode(error.code ?? error.error) : "";
  const unexplained = { operation: operation.id, status, code };
  if (CALLER_OR_RECORD.has(status)) return unexplained;
  if ([...url.searchParams.keys()].join() === "limit") {
    observeRefusedLimit(call, where);
    return undefined;
  }
  if (!operation.body || !isObject(call.body) || problems.length > 0) return unexplained;
  return observeRefusedBody(call, where) ? undefined : unexplained;
}

/** A body that meets the facts is refused. Whether it misleads depends on whether the sandbox has the same rule, which its code tells. */
function observeRefusedBody({ operation, body, response, status }: HeldCall["call"], { sightings, ...where }: ObservationContext): boolean {
  const place = `${operation.id}.body`;
  const lenient = { ...where, lenient: "sandbox" as const };
  const sent = body as object;
  const named = namedFields(errorIn(response));
  const missing = named.filter((field) => !Object.hasOwn(sent, field));
  const known = missing.filter((field) => sightings.fact(`${place}.${field}.required`));
  for (const field of known) sightings.see(`${place}.${field}.required`, true, false, lenient);
  const asked = missing.filter((field) => !known.includes(field));
  for (const field of asked) sightings.see(`${place}.accepted`, `${shownCode(field)} is required`, false, lenient);
  const unknown = named.filter((field) => Object.hasOwn(sent, field) && !sightings.fact(`${place}.${field}`));
  for (const field of unknown) sightings.see(`${place}.accepted`, `${shownCode(field)} is refused`, false, lenient);
  const { code } = errorIn(response);
  if (missing.length + unknown.length > 0) return true;
  // The sandbox has rules beyond the schema, and answers with one of its own codes where they are broken.
  if (typeof code === "string" && Object.hasOwn(errors, code)) return true;
  sightings.see(`${place}.accepted`, `${status} ${shownCode(code)}`, false, lenient);
  return true;
}

const FIELD_NAMES = ["field", "param", "parameter", "path", "pointer", "property", "name"];

/** The fields that an error names, in the forms of errors that are in use. */
function namedFields(response: unknown): string[] {
  if (!isObject(response)) return [];
  const details = isObject(response.details) ? response.details : {};
  const lists = [details.errors, response.errors, response.details, [details], [response]];
  const found = lists
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .flatMap((item) => {
      const name = isObject(item) ? FIELD_NAMES.map((key) => item[key]).find((value) => typeof value === "string") : undefined;
      return typeof name === "string" ? [name.replace(/^[/$.]+/, "").split(/[/.[]/)[0] ?? ""] : [];
    });
  return [...new Set(found)].filter((name) => name !== "");
}
