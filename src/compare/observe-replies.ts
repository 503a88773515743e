// Observations from successful calls: the status, the response's shape, and the accepted body and parameters.

import type { FactValue } from "../contracts/fact.ts";
import { isObject, type JsonObject } from "../kernel/json-object.ts";
import { valueAt } from "../schema/json-pointer.ts";
import type { TSchema } from "../schema/shapes.ts";
import { recordsOf } from "../schema/walk.ts";
import type { CallContext } from "./history.ts";
import { type ObservationLog, typeOfJson } from "./observations.ts";
import { observeList } from "./observe-lists.ts";
import { type ObservationContext, observeListedValues, observeObject } from "./observe-values.ts";

export function observeSuccess(context: CallContext, log: ObservationLog): void {
  const { call, knowledge } = context;
  const { operation, entry } = call;
  const where: ObservationContext = { log, knowledge, entry, operation: operation.id };
  log.compare(`${operation.id}.status`, call.status, where);
  observeParameters(context, where);
  if (operation.body && isObject(call.body)) observeAcceptedBody(context, where);
  const records = recordsOf(operation.reply);
  if (records && call.response !== undefined) observeList(context, where, records);
  else if (isObject(call.response) && call.foreign.records)
    observeListedValues(where, `${operation.id}.reply`, operation.reply, call.response);
  else if (isObject(call.record)) {
    if (!call.foreign.page) log.compare(`${operation.id}.reply.envelope`, call.envelope ?? "none", where);
    observeObject(where, `${operation.id}.reply`, operation.reply, call.record);
  }
}

function observeParameters(context: CallContext, { log, ...where }: ObservationContext): void {
  const { operation, url, responseHeaders } = context.call;
  const place = `${operation.id}.query`;
  // The sandbox itself ignores unknown parameters, and lists them in this header.
  const ignored = responseHeaders["x-sandbox-unknown-params"] ?? "";
  for (const name of new Set(url.searchParams.keys())) {
    if (Object.hasOwn(operation.query.properties, name)) log.record(`${place}.${name}`, "known", true, where);
    // The service may ignore an unknown parameter. Only a parameter whose value is a cursor contradicts the sandbox.
    else if (!ignored.includes(name) && isCursor(context, url.searchParams.get(name)))
      log.record(`${place}.other_parameters`, log.shown.code(name), false, where);
  }
}

/** Recognises a cursor by its value, which is the last or the first id of an earlier page. */
const isCursor = ({ call, history }: CallContext, value: string | null): boolean =>
  value !== null &&
  call.operation.query.properties.starting_after !== undefined &&
  (history.hasPage(call, "last", value) || history.hasPage(call, "first", value));

/** By error code of the schema check: the end of the contradicted fact's id, and the value to record for the fact. */
const PARTS: Readonly<Record<string, [part: string, accepted: (value: unknown, log: ObservationLog) => FactValue]>> = {
  required: [".required", () => false],
  wrong_type: [".type", typeOfJson],
  not_allowed: [".values", (value, { shown }) => (typeof value === "string" ? shown.code(value) : typeOfJson(value))],
  wrong_format: [".format", () => "accepted: wrong_format"],
};

function observeAcceptedBody({ call, problems }: CallContext, where: ObservationContext): void {
  const { log } = where;
  const place = `${call.operation.id}.body`;
  const body = call.body as JsonObject;
  // An unknown field may be a required field under another name. If the body has an unknown field, a missing field
  // contradicts nothing.
  const isRenamed = Object.keys(body).some((field) => !log.fact(`${place}.${field}`));
  const isShown = (code: string) => (call.foreign.body ? code === "not_allowed" : code !== "required" || !isRenamed);
  for (const { pointer, code } of problems.filter((one) => isShown(one.code))) {
    const id = place + pointer.replaceAll(/\/\d+(?=\/|$)/g, "[]").replaceAll("/", ".");
    const [part, accepted] = PARTS[code] ?? ["", () => `accepted: ${code}`];
    const fact = log.fact(id + part) ? id + part : id;
    log.record(fact, accepted(valueAt(body, pointer), log), false, { ...where, lenient: "service" });
  }
  const isOtherName = isRenamed && !call.foreign.body && problems.every(({ code }) => code === "required");
  if (problems.length > 0 && !isOtherName) return;
  for (const { pointer } of problems) log.record(`${place}${pointer.replaceAll("/", ".")}`, "absent", false, where);
  if (problems.length === 0) log.record(`${place}.accepted`, "accepted", true, where);
  const observe = call.foreign.body ? observeListedValues : observeObject;
  observe({ ...where, isBody: true }, place, call.operation.body as TSchema, body);
}
