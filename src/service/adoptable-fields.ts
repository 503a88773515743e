// Entries of a service file about fields: those of the sandbox, and those that it adds.

import type { FactKind, FactValue, ServiceFact } from "../contracts/fact.ts";
import { typesOfForm } from "../contracts/value-formats.ts";
import type { AdoptedFacts } from "./adopted-facts.ts";
import { formsFrom, sampleOfForm } from "./conversions.ts";

export interface AdoptableKind {
  /** Why no fact of the kind can be adopted. */
  not?: string;
  /** The value may differ by operation: `payments.create/error.invalid_state.status`. */
  byOperation?: true;
  /** `<fact>.name` gives it another name. */
  rename?: true;
  /** The values that may stand there, for errors. */
  form?: string | ((fact: ServiceFact) => string);
  matches?(value: FactValue, fact: ServiceFact, file?: AdoptedFacts): boolean;
}

const isTexts = (value: FactValue): value is readonly string[] => Array.isArray(value) && value.length > 0;
const isCode = (value: FactValue) => typeof value === "string" && value.length > 0 && value.length <= 100;
const quoted = (values: readonly string[]) => values.map((value) => JSON.stringify(value)).join(" or ");
const oneOf = (...values: readonly string[]) => ({ form: quoted(values), matches: (value: FactValue) => values.includes(String(value)) });

const PREFIX = /^[A-Za-z][A-Za-z0-9]{0,18}[_-]$/;
const FIELD = /^[A-Za-z_][\w-]{0,79}(\[\])?$/;

export const fieldKinds = {
  field: { rename: true, ...oneOf("always", "sometimes", "absent") },
  body_field: { rename: true, ...oneOf("known", "absent") },
  required: { form: "true or false", matches: (value) => typeof value === "boolean" },
  type: {
    form: ({ id }) =>
      `the types of the sandbox${id.includes(".body.") ? "" : ', or these and "null"'}: another type follows from ${id.replace(/type$/, "format")}`,
    matches: (value, { id, value: own }, file) =>
      isTexts(value) &&
      mayBeNull(value, own as readonly string[], id.includes(".body.")) &&
      isTypeOf(value, own as readonly string[], file?.text(id.replace(/type$/, "format"))),
  },
  value: { form: "a text of 1 to 100 characters", matches: isCode },
  values: {
    form: ({ value }) => `a list with all of ${(value as readonly string[]).join(", ")}, and with others`,
    matches: (value, { value: own }) => isTexts(value) && (own as readonly string[]).every((one) => value.includes(one)),
  },
  prefix: { form: 'a prefix such as "pmt_"', matches: (value) => typeof value === "string" && PREFIX.test(value) },
  envelope: {
    form: ({ id }) =>
      id === "error.envelope"
        ? '"none", or a field such as "error" or "errors[]"'
        : 'the name of a field, or "the response itself" for a list and "none" for an object',
    matches: (value, { id, value: own }) =>
      value === own ||
      (value === "the response itself" && own === "data") ||
      (typeof value === "string" &&
        FIELD.test(value) &&
        (own === "none" || value !== "none") &&
        (id === "error.envelope" || !value.endsWith("[]"))),
  },
  other_fields: {
    form: ({ id, value }) =>
      value === "none" ? `nothing: name each field, such as ${id.replace(/other_fields$/, "riskScore")}` : '"accepted" or "refused"',
    matches: (value, { value: own }) => own === "accepted" && (value === "accepted" || value === "refused"),
  },
} satisfies Partial<Record<FactKind, AdoptableKind>>;

const plain = (types: readonly string[]) =>
  types
    .filter((type) => type !== "null")
    .toSorted()
    .join();

/** The sandbox's own nulls stay; a body has no others. */
const mayBeNull = (value: readonly string[], own: readonly string[], isBody: boolean) =>
  value.includes("null") === own.includes("null") || (value.includes("null") && !isBody);

const isTypeOf = (value: readonly string[], own: readonly string[], form: string | undefined) =>
  plain(value) === plain(own) || (form !== undefined && plain(value) === plain(typesOfForm(form) ?? []));

/** The forms to which a field of the sandbox can be converted, with its own. */
export const formsOfField = ({ value }: ServiceFact) => formsFrom(String(value));

const TYPES = ["string", "integer", "number", "boolean", "array", "object", "null"];

/** The parts of a fact about a field that the file adds. */
const parts: Readonly<Record<string, { form: string; matches(value: FactValue): boolean }>> = {
  type: { form: `a list of ${TYPES.join(", ")}`, matches: (value) => isTexts(value) && value.every((type) => TYPES.includes(type)) },
  format: {
    form: 'a form such as "ISO 8601 time", "Unix seconds" or "e-mail address"',
    matches: (value) => typeof value === "string" && sampleOfForm(value, 0) !== undefined,
  },
  prefix: fieldKinds.prefix,
  values: { form: "a list of codes", matches: (value) => isTexts(value) && value.every(isCode) },
  example: { form: "a text, a number or a boolean", matches: (value) => typeof value !== "object" },
  required: fieldKinds.required,
};

/** The problem of an entry about a field that the file adds; undefined if nothing is, and null if the entry is about no such field. */
export function addedFieldProblem(
  id: string,
  value: FactValue,
  facts: ReadonlyMap<string, ServiceFact>,
  file: AdoptedFacts | undefined,
): string | undefined | null {
  const [place, name] = splitId(id);
  const hasFields = (object: string) => facts.has(`${object}.other_fields`);
  if (hasFields(place) && FIELD.test(name)) {
    const presences = facts.get(`${place}.other_fields`)?.value === "none" ? ["always", "sometimes"] : ["known"];
    return presences.includes(String(value))
      ? undefined
      : `${id} takes ${quoted(presences)}, as a field that the sandbox does not have; received ${JSON.stringify(value)}.`;
  }
  const [object] = splitId(place);
  const part = Object.hasOwn(parts, name) ? parts[name] : undefined;
  if (part === undefined || !hasFields(object)) return null;
  if (file && file.value(place) === undefined)
    return `${id} is about a field that the sandbox does not have: add ${JSON.stringify(place)} to the file.`;
  return part.matches(value) ? undefined : `${id} takes ${part.form}; received ${JSON.stringify(value)}.`;
}

const splitId = (id: string): [string, string] => [id.slice(0, Math.max(id.lastIndexOf("."), 0)), id.slice(id.lastIndexOf(".") + 1)];
