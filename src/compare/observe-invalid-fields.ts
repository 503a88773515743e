// Observations of how an error lists the invalid fields of a body or a query: the place of the list, and its form.

import { isObject, type JsonObject } from "../kernel/json-object.ts";
import { fieldsOf } from "../schema/walk.ts";
import type { CallContext } from "./history.ts";
import { formOfInvalidFields, type InvalidFieldsPlace, OWN_INVALID_FIELDS } from "./invalid-fields.ts";
import type { ObservationContext } from "./observe-values.ts";
import { MASKED } from "./shown-texts.ts";

/** The list of invalid fields in an error; undefined if there is none in a known form. */
function invalidFieldsIn({ call }: Pick<CallContext, "call">, error: JsonObject) {
  const { body, query } = call.operation;
  const sent = isObject(call.body) ? Object.keys(call.body) : [];
  const declared = [...(body ? fieldsOf(body) : []), ...fieldsOf(query)].map(([name]) => name);
  const known = new Set([...declared, ...sent, ...call.url.searchParams.keys()]);
  const inner = error.details;
  const found = (place: InvalidFieldsPlace, value: unknown) => {
    const form = formOfInvalidFields(value);
    if (
      form === undefined ||
      (place === "details" && form === "a message by field" && !areMessages(value as object, known, call))
    )
      return [];
    return [{ place, form, value: value as object }];
  };
  const own = isObject(inner) ? found("details.errors", inner.errors) : [];
  return [...own, ...found("errors", error.errors), ...found("details", inner)][0];
}

/** Whether an object has messages by field, and not other texts, such as the request's id or a received value. */
function areMessages(value: object, known: ReadonlySet<string>, { body, url }: CallContext["call"]): boolean {
  const isSent = (name: string, text: unknown) => (isObject(body) ? body[name] : url.searchParams.get(name)) === text;
  return Object.entries(value).every(([name, text]) => known.has(name.split(/[.[/]/)[0] ?? "") && !isSent(name, text));
}

/** Compares the place and form of the list. Returns the error without the parts that differ only because of them. */
export function observeInvalidFields(context: CallContext, where: ObservationContext, error: JsonObject): JsonObject {
  const found = invalidFieldsIn(context, error);
  if (!found) return error;
  const { place, form } = found;
  where.log.compare("error.invalid_fields", `${form} in ${place}`, where);
  if (`${form} in ${place}` === OWN_INVALID_FIELDS) return error;
  if (place === "details") return { ...error, details: MASKED };
  if (place === "details.errors") return { ...error, details: { ...(error.details as JsonObject), errors: MASKED } };
  const { errors: _, ...rest } = error;
  return rest;
}

const FIELD_NAMES = ["field", "param", "parameter", "path", "pointer", "property", "name"];

/** The body fields that an error names, in any of the common forms of errors. */
export function namedFields(context: CallContext, error: JsonObject): string[] {
  const listed = invalidFieldsIn(context, error);
  const details = isObject(error.details) ? error.details : {};
  const paths = listed?.form.endsWith("by field") ? Object.keys(listed.value) : [];
  const found = [listed?.value, [details], [error], paths.map((field) => ({ field }))]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .flatMap((item) => {
      const name = isObject(item)
        ? FIELD_NAMES.map((key) => item[key]).find((value) => typeof value === "string")
        : undefined;
      return typeof name === "string" ? [name.replace(/^[#/$.]+/, "").split(/[/.[]/)[0] ?? ""] : [];
    });
  return [...new Set(found)].filter((name) => name !== "");
}
