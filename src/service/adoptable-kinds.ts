// The values that a service file may set: for each kind of fact the allowed values, or why the kind cannot be adopted;
// and fields that a file adds.

import { type FactKind, type FactValue, factKinds, type ServiceFact } from "../contracts/fact.ts";
import { invalidFieldsForms } from "../contracts/invalid-fields.ts";
import { typesOfForm } from "../contracts/value-formats.ts";
import { signatureForms } from "../kernel/signature-forms.ts";
import { formsFrom, sampleOfForm } from "./conversions.ts";
import type { AdoptedFacts } from "./service-file.ts";

export interface AdoptableKind {
  /** Why no fact of the kind can be adopted. */
  not?: string;
  /** `<fact>.name` gives it another name. */
  rename?: true;
  /** The allowed values in words, for error messages. */
  form?: string | ((fact: ServiceFact) => string);
  matches?(value: FactValue, fact: ServiceFact, file: AdoptedFacts): boolean;
}

const isTexts = (value: FactValue): value is readonly string[] => Array.isArray(value) && value.length > 0;
const quoted = (values: readonly string[]) => values.map((value) => JSON.stringify(value)).join(" or ");

const isCode = (value: FactValue) => typeof value === "string" && value.length > 0 && value.length <= 100;
const code = { form: "a text of 1 to 100 characters", matches: isCode };
const oneOf = (...values: readonly string[]) => ({
  form: quoted(values),
  matches: (value: FactValue) => values.includes(String(value)),
});

const wholeNumber = (least: number, most: number) => ({
  form: `a whole number from ${least} to ${most}`,
  matches: (value: FactValue) => isWhole(value, least, most),
});

const isWhole = (value: FactValue, least: number, most: number) =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= most;

/** The other forms that the sandbox can write, by its own form. */
const FORMS: Readonly<Record<string, readonly string[]>> = {
  seconds: ["HTTP date"],
  "Unix seconds, as text": ["seconds from now", "Unix milliseconds, as text"],
};

const formsOf = (fact: ServiceFact) => [
  String(fact.value),
  ...(FORMS[String(fact.value)] ?? formsFrom(String(fact.value))),
];

const NAME = {
  form: "a name of letters, digits, _ and -",
  matches: (value: FactValue) => typeof value === "string" && /^[A-Za-z][\w-]{0,79}$/.test(value),
};

/** Headers that HTTP, the sandbox or authentication uses for something else. */
const RESERVED =
  /^(authorization|content-.*|host|connection|transfer-encoding|expect|upgrade|te|trailer|date|set-cookie|x-sandbox-.*)$/i;

const HEADER_NAME = {
  form: "the name of a header of its own, such as X-Request-Key",
  matches: (value: FactValue) =>
    typeof value === "string" && /^[A-Za-z][A-Za-z0-9-]{0,79}$/.test(value) && !RESERVED.test(value),
};

const PREFIX = /^[A-Za-z][A-Za-z0-9]{0,18}[_-]$/;
const FIELD = /^[A-Za-z_][\w-]{0,79}(\[\])?$/;

const fieldKinds = {
  field: { rename: true, ...oneOf("always", "sometimes", "absent") },
  body_field: { rename: true, ...oneOf("known", "absent") },
  required: { form: "true or false", matches: (value) => typeof value === "boolean" },
  type: {
    form: ({ id }) =>
      `the types of the sandbox${id.includes(".body.") ? "" : ', or these and "null"'}: another type follows from ${id.replace(/type$/, "format")}`,
    matches: (value, { id, value: own }, file) =>
      isTexts(value) &&
      mayBeNull(value, own as readonly string[], id.includes(".body.")) &&
      isTypeOf(value, own as readonly string[], file.text(id.replace(/type$/, "format"))),
  },
  values: {
    form: ({ value }) => `a list with all of ${(value as readonly string[]).join(", ")}, and with others`,
    matches: (value, { value: own }) =>
      isTexts(value) && (own as readonly string[]).every((one) => value.includes(one)),
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
      value === "none"
        ? `nothing: name each field, such as ${id.replace(/other_fields$/, "riskScore")}`
        : '"accepted" or "refused"',
    matches: (value, { value: own }) => own === "accepted" && (value === "accepted" || value === "refused"),
  },
} satisfies Partial<Record<FactKind, AdoptableKind>>;

const plain = (types: readonly string[]) =>
  types
    .filter((type) => type !== "null")
    .toSorted()
    .join();

/**
 * A field that can be null in the sandbox stays so. Other fields of replies and events may become nullable, but not
 * fields of a body.
 */
const mayBeNull = (value: readonly string[], own: readonly string[], isBody: boolean) =>
  value.includes("null") === own.includes("null") || (value.includes("null") && !isBody);

const isTypeOf = (value: readonly string[], own: readonly string[], form: string | undefined) =>
  plain(value) === plain(own) || (form !== undefined && plain(value) === plain(typesOfForm(form) ?? []));

export const adoptableKinds: { readonly [Kind in FactKind]: AdoptableKind } = {
  ...factKinds,
  ...fieldKinds,
  success_status: wholeNumber(200, 299),
  rate_limit: wholeNumber(1, 1_000_000_000),
  retry_after: {
    form: ({ value }) => `${JSON.stringify(value)}, or a whole number of seconds from 1 to 86400`,
    matches: (value, { value: own }) => value === own || isWhole(value, 1, 86_400),
  },
  idempotency_header: HEADER_NAME,
  replay: {
    form: '"the first response", "a second effect" or "refused with" and a status, such as "refused with 409"',
    matches: (value) => /^(the first response|a second effect|refused with 4\d\d)$/.test(String(value)),
  },
  replay_window: wholeNumber(1, 366 * 86_400),
  value: {
    form: "the name that the service has for the value, of letters, digits and _ . : / -",
    matches: (value) => typeof value === "string" && /^[\w.:/-]{1,100}$/.test(value),
  },
  delivery_header: { ...oneOf("sent", "absent"), rename: true },
  signature: oneOf(...signatureForms),
  header: { ...oneOf("sent", "absent"), rename: true },
  schedule: {
    form: 'seconds from 0 to 2592000, or "no attempt"',
    matches: (value) => value === "no attempt" || (typeof value === "number" && value >= 0 && value <= 2_592_000),
  },
  error_status: {
    form: ({ id }) =>
      `a whole number from 400 to 599${id === "error.invalid_limit.status" ? ", or 200: a limit out of bounds is moved into them" : ""}`,
    matches: (value, { id }) => isWhole(value, 400, 599) || (value === 200 && id === "error.invalid_limit.status"),
  },
  format: {
    form: (fact) => oneOf(...formsOf(fact)).form,
    matches: (value, fact) => formsOf(fact).includes(String(value)),
  },
  parameter: { rename: true, form: '"absent"', matches: (value) => value === "absent" || value === "known" },
  default: wholeNumber(1, 1_000),
  minimum: wholeNumber(0, 1_000),
  maximum: wholeNumber(1, 1_000),
  order: oneOf("newest first", "oldest first"),
  invalid_fields: oneOf(...invalidFieldsForms.keys()),
  error_category: code,
  error_code: code,
};

/** Why the value is not allowed; undefined if it is. */
export function formProblem(
  fact: ServiceFact,
  part: "value" | "name",
  value: FactValue,
  file: AdoptedFacts,
): string | undefined {
  const { form, matches } =
    part === "value" ? adoptableKinds[fact.kind] : fact.kind.endsWith("header") ? HEADER_NAME : NAME;
  if (matches === undefined || matches(value, fact, file)) return undefined;
  const id = part === "name" ? `${fact.id}.name` : fact.id;
  return `${id} takes ${typeof form === "function" ? form(fact) : form}; received ${JSON.stringify(value)}. The sandbox has ${JSON.stringify(fact.value)}.`;
}

const TYPES = ["string", "integer", "number", "boolean", "array", "object", "null"];

/** The parts of a fact about a field that the file adds. */
const parts: Readonly<Record<string, { form: string; matches(value: FactValue): boolean }>> = {
  type: {
    form: `a list of ${TYPES.join(", ")}`,
    matches: (value) => isTexts(value) && value.every((type) => TYPES.includes(type)),
  },
  format: {
    form: 'a form such as "ISO 8601 time", "Unix seconds" or "e-mail address"',
    matches: (value) => typeof value === "string" && sampleOfForm(value, 0) !== undefined,
  },
  prefix: fieldKinds.prefix,
  values: { form: "a list of codes", matches: (value) => isTexts(value) && value.every(isCode) },
  example: { form: "a text, a number or a boolean", matches: (value) => typeof value !== "object" },
  required: fieldKinds.required,
};

/**
 * Why an entry about an added field is refused; undefined if it is not, null if the entry is not about an added field.
 */
export function addedFieldProblem(
  id: string,
  value: FactValue,
  facts: ReadonlyMap<string, ServiceFact>,
  file: AdoptedFacts,
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
  if (file.value(place) === undefined)
    return `${id} is about a field that the sandbox does not have: add ${JSON.stringify(place)} to the file.`;
  return part.matches(value) ? undefined : `${id} takes ${part.form}; received ${JSON.stringify(value)}.`;
}

const splitId = (id: string): [string, string] => [
  id.slice(0, Math.max(id.lastIndexOf("."), 0)),
  id.slice(id.lastIndexOf(".") + 1),
];
