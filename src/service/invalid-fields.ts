// Invalid fields as the real service lists them in its errors.

import { invalidFieldsForms, OWN_INVALID_FIELDS } from "../contracts/invalid-fields.ts";
import type { FieldError } from "../kernel/errors.ts";
import { type TSchema, Type, text } from "../schema/shapes.ts";
import type { AdoptedFacts } from "./adopted-facts.ts";

type Fields = Record<string, unknown>;

/** How the file writes invalid fields, and what it calls `details` and `details.errors`. */
function adoptedForm(facts: AdoptedFacts) {
  const value = facts.text("error.invalid_fields") ?? OWN_INVALID_FIELDS;
  const form = value === OWN_INVALID_FIELDS ? undefined : invalidFieldsForms.get(value);
  const nameOf = (id: string, own: string) => facts.text(`${id}.name`) ?? own;
  return form && { ...form, details: nameOf("error.details", "details"), errors: nameOf("error.details.errors", "errors") };
}

/** Moves the list of invalid fields of an error, whose own names are translated already; undefined if the file has the sandbox's form. */
export function createInvalidFields(facts: AdoptedFacts): ((own: object, shaped: object) => object) | undefined {
  const adopted = adoptedForm(facts);
  if (!adopted) return undefined;
  const { place, form, write, details, errors } = adopted;
  return (own, shaped) => {
    const found = (own as { details?: { errors?: unknown } }).details?.errors;
    if (!Array.isArray(found)) return shaped;
    const { [details]: inner, ...rest } = shaped as Fields;
    const { [errors]: list, ...others } = (inner ?? {}) as Fields;
    const value = form === "a list of objects" ? (list ?? found) : write(found as FieldError[]);
    if (place === "errors") return { ...rest, ...(inner === undefined ? {} : { [details]: others }), errors: value };
    return { ...rest, [details]: place === "details" ? value : { ...others, [errors]: value } };
  };
}

/** The schema of an error with its list of invalid fields in the form of the service. */
export function withInvalidFields(facts: AdoptedFacts, error: TSchema): TSchema {
  const adopted = adoptedForm(facts);
  if (!adopted) return error;
  const { place, form, details, errors } = adopted;
  const { properties, ...rest } = error as TSchema & { properties: Record<string, TSchema & { properties?: Record<string, TSchema> }> };
  const { [details]: inner, ...fields } = properties;
  const { [errors]: list, ...others } = inner?.properties ?? {};
  const value = list === undefined ? schemaOf(form, undefined) : schemaOf(form, list);
  const kept = inner && { [details]: { ...inner, properties: place === "details.errors" ? { ...others, [errors]: value } : others } };
  const changed =
    place === "errors"
      ? { ...kept, errors: value }
      : place === "details"
        ? { [details]: Type.Union([value, kept?.[details] ?? Type.Object({})]) }
        : { ...kept };
  return { ...rest, properties: { ...fields, ...changed } } as unknown as TSchema;
}

function schemaOf(form: string, list: TSchema | undefined): TSchema {
  const message = text("Description of the validation error");
  const description = "Validation errors of the invalid fields";
  if (form === "a list of objects") return list ?? Type.Array(Type.Object({}), { description });
  if (form === "a list of messages") return Type.Array(message, { description });
  const value = form === "messages by field" ? Type.Array(message) : message;
  return Type.Record(value, { description });
}
