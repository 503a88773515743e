// Observations from successes: their status, the shape of the response, and the body and parameters that the service accepted.

import type { FactValue } from "../contracts/fact.ts";
import { valueAt } from "../schema/json-pointer.ts";
import type { TSchema } from "../schema/shapes.ts";
import { fieldsOf, isRequired, nameOf } from "../schema/walk.ts";
import type { HeldCall } from "./history.ts";
import { observeList, pageIn, recordsIn } from "./observe-lists.ts";
import { type ObservationContext, observeObject } from "./observe-values.ts";
import { isObject, type JsonFields, ownBodyOf, succeeded } from "./recording.ts";
import type { Sightings } from "./sightings.ts";
import { typeOfJson } from "./unknown-fields.ts";

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

function observeParameters(held: HeldCall, { sightings, ...where }: ObservationContext): void {
  const { operation, url, responseHeaders } = held.call;
  const place = `${operation.id}.query`;
  const names = new Map(Object.keys(operation.query.properties).map((own) => [sightings.nameOf(`${place}.${own}`, own), own]));
  // The sandbox itself ignores unknown parameters, and names them.
  const ignored = responseHeaders["x-sandbox-unknown-params"] ?? "";
  for (const name of new Set(url.searchParams.keys())) {
    if (names.has(name)) sightings.see(`${place}.${names.get(name)}`, "known", true, where);
    else if (!ignored.includes(name)) {
      sightings.see(`${place}.other_parameters`, sightings.shown.code(name), false, where);
      const cursor = cursorFor(held, url.searchParams.get(name));
      if (cursor !== undefined) sightings.rename(`${place}.${cursor}`, sightings.shown.code(name), where.entry);
    }
  }
}

/** The cursor with this value: the id of the last record of an earlier page, or of the first one. */
function cursorFor({ call, history }: HeldCall, value: string | null): string | undefined {
  if (value === null || !call.operation.query.properties.starting_after) return undefined;
  const pages = history.before(call).flatMap((earlier) => {
    const items = earlier.operation === call.operation && succeeded(earlier) ? (pageIn(earlier.response)?.items ?? []) : [];
    return items.length === 0 ? [] : [{ first: idOf(items[0]), last: idOf(items.at(-1)) }];
  });
  if (pages.some(({ last }) => last === value)) return "starting_after";
  return pages.some(({ first }) => first === value) ? "ending_before" : undefined;
}

const idOf = (item: unknown) => (isObject(item) ? item.id : undefined);

/** The part of a fact that each error of the schema check contradicts. */
const PARTS: Readonly<Record<string, string>> = {
  required: ".required",
  wrong_type: ".type",
  not_allowed: ".values",
  wrong_format: ".format",
};

/** The value that the service accepted instead of the fact's. */
function acceptedValue(part: string, code: string, value: unknown, { shown }: Sightings): FactValue {
  if (part === ".required") return false;
  if (part === ".type") return typeOfJson(value);
  if (part === ".values") return typeof value === "string" ? shown.code(value) : typeOfJson(value);
  return `accepted: ${code}`;
}

function observeAcceptedBody({ call, problems }: HeldCall, where: ObservationContext): void {
  const { sightings } = where;
  const place = `${call.operation.id}.body`;
  const { body } = ownBodyOf(call.operation, call.body as JsonFields);
  for (const { pointer, code } of problems) {
    const id = place + pointer.replaceAll(/\/\d+(?=\/|$)/g, "[]").replaceAll("/", ".");
    const part = PARTS[code] ?? "";
    const fact = sightings.fact(id + part) ? id + part : id;
    sightings.see(fact, acceptedValue(part, code, valueAt(body, pointer), sightings), false, { ...where, lenient: "service" });
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
  where.sightings.compare(`${id}.envelope`, isWrapped ? where.sightings.shown.code(name) : "none", where);
  observeObject(where, nameOf(schema, id), schema, (isWrapped ? inner : response) as JsonFields);
}
