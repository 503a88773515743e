// Observations from successes: their status, the shape of the response, and the body and parameters that the service accepted.

import { fieldsOf, isRequired, nameOf } from "../contracts/schema-parts.ts";
import type { TSchema } from "../schema/shapes.ts";
import type { HeldCall } from "./history.ts";
import { observeList, recordsIn } from "./observe-lists.ts";
import { type ObservationContext, observeObject } from "./observe-values.ts";
import { isObject, type JsonFields } from "./recording.ts";
import { type Sightings, shownCode } from "./sightings.ts";

export function observeSuccess(held: HeldCall, sightings: Sightings): void {
  const { call, knowledge } = held;
  const { operation, entry } = call;
  const where: ObservationContext = { sightings, knowledge, entry, operation: operation.id };
  sightings.compare(`${operation.id}.status`, call.status, where);
  observeParameters(held, where);
  if (operation.body && isObject(call.body)) observeAcceptedBody(held, where);
  const records = recordsIn(operation.reply);
  if (records && call.response !== undefined) observeList(held, where, records);
  else if (isObject(call.response)) observeReply(where, operation.reply, call.response);
}

function observeParameters({ call }: HeldCall, { sightings, ...where }: ObservationContext): void {
  const { operation, url, responseHeaders } = call;
  // The sandbox itself ignores unknown parameters, and names them.
  const ignored = responseHeaders["x-sandbox-unknown-params"] ?? "";
  for (const name of new Set(url.searchParams.keys())) {
    if (Object.hasOwn(operation.query.properties, name)) sightings.see(`${operation.id}.query.${name}`, "known", true, where);
    else if (!ignored.includes(name)) sightings.see(`${operation.id}.query.other_parameters`, shownCode(name), false, where);
  }
}

/** The part of a fact that each error of the schema check contradicts. */
const PARTS: Readonly<Record<string, string>> = {
  required: ".required",
  wrong_type: ".type",
  not_allowed: ".values",
  wrong_format: ".format",
};

function observeAcceptedBody({ call, problems }: HeldCall, where: ObservationContext): void {
  const { sightings } = where;
  const place = `${call.operation.id}.body`;
  for (const { pointer, code } of problems) {
    const id = place + pointer.replaceAll(/\/\d+(?=\/|$)/g, "[]").replaceAll("/", ".");
    const part = PARTS[code] ?? "";
    const fact = sightings.fact(id + part) ? id + part : id;
    sightings.see(fact, code === "required" ? false : `accepted: ${code}`, false, { ...where, lenient: "service" });
  }
  if (problems.length > 0) return;
  sightings.see(`${place}.accepted`, "accepted", true, where);
  observeObject({ ...where, isBody: true }, place, call.operation.body as TSchema, call.body as JsonFields);
}

/** The object of a response, perhaps in a field of its own. */
function observeReply(where: ObservationContext, schema: TSchema, response: JsonFields): void {
  const id = `${where.operation}.reply`;
  const count = (value: unknown) =>
    isObject(value) ? fieldsOf(schema).filter(([name]) => isRequired(schema, name) && Object.hasOwn(value, name)).length : 0;
  const total = fieldsOf(schema).filter(([name]) => isRequired(schema, name)).length;
  const [name, inner] = Object.entries(response).toSorted(([, one], [, other]) => count(other) - count(one))[0] ?? [];
  const isWrapped = name !== undefined && count(response) * 2 < total && count(inner) * 2 >= total && total > 1;
  where.sightings.compare(`${id}.envelope`, isWrapped ? shownCode(name) : "none", where);
  observeObject(where, nameOf(schema, id), schema, (isWrapped ? inner : response) as JsonFields);
}
