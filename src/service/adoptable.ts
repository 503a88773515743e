// The kinds of facts that a service file can change: for each kind, the values that may stand there, or why it cannot be adopted.

import { type FactKind, type FactValue, factKinds, type ServiceFact } from "../contracts/fact.ts";
import { invalidFieldsForms } from "../contracts/invalid-fields.ts";
import { type AdoptableKind, fieldKinds, formsOfField } from "./adoptable-fields.ts";
import type { AdoptedFacts } from "./adopted-facts.ts";
import { signatureForms } from "./signatures.ts";

const wholeNumber = (least: number, most: number) => ({
  form: `a whole number from ${least} to ${most}`,
  matches: (value: FactValue) => isWhole(value, least, most),
});

const isWhole = (value: FactValue, least: number, most: number) =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= most;

/** The forms that the sandbox can write, by its own. */
const FORMS: Readonly<Record<string, readonly string[]>> = {
  seconds: ["HTTP date"],
  "Unix seconds, as text": ["seconds from now", "Unix milliseconds, as text"],
};

const formsOf = (fact: ServiceFact) => [String(fact.value), ...(FORMS[String(fact.value)] ?? formsOfField(fact))];

const oneOf = (...values: readonly string[]) => ({
  form: values.map((value) => JSON.stringify(value)).join(" or "),
  matches: (value: FactValue) => values.includes(String(value)),
});

const code = { form: "a text of 1 to 100 characters", matches: (value: FactValue) => isText(value, 100) };

const isText = (value: FactValue, most: number): value is string => typeof value === "string" && value.length > 0 && value.length <= most;

const NAME = {
  form: "a name of letters, digits, _ and -",
  matches: (value: FactValue) => typeof value === "string" && /^[A-Za-z][\w-]{0,79}$/.test(value),
};

/** Headers that HTTP, the sandbox or authentication uses for something else. */
const RESERVED = /^(authorization|content-.*|host|connection|transfer-encoding|expect|upgrade|te|trailer|date|set-cookie|x-sandbox-.*)$/i;

const HEADER_NAME = {
  form: "the name of a header of its own, such as X-Request-Key",
  matches: (value: FactValue) => typeof value === "string" && /^[A-Za-z][A-Za-z0-9-]{0,79}$/.test(value) && !RESERVED.test(value),
};

/** With the reasons of the kinds that cannot be adopted. */
const declared: Readonly<Record<FactKind, AdoptableKind & { observed: string }>> = factKinds;

export const adoptableKinds: { readonly [Kind in FactKind]: AdoptableKind } = {
  ...declared,
  ...fieldKinds,
  success_status: wholeNumber(200, 299),
  rate_limit: wholeNumber(1, 1_000_000_000),
  idempotency_header: HEADER_NAME,
  replay: {
    byOperation: true,
    form: '"the first response", "a second effect" or "refused with" and a status, such as "refused with 409"',
    matches: (value) => /^(the first response|a second effect|refused with 4\d\d)$/.test(String(value)),
  },
  replay_window: { ...wholeNumber(1, 366 * 86_400), byOperation: true },
  value: {
    form: "the name that the service has for the value",
    matches: (value) => typeof value === "string" && /^[\w.:/-]{1,100}$/.test(value),
  },
  delivery_header: { ...oneOf("sent", "absent"), rename: true },
  signature: oneOf(...signatureForms),
  header: { ...oneOf("sent", "absent"), rename: true, byOperation: true },
  schedule: {
    form: 'seconds from 0 to 2592000, or "no attempt"',
    matches: (value) => value === "no attempt" || (typeof value === "number" && value >= 0 && value <= 2_592_000),
  },
  error_status: {
    form: ({ id }) =>
      `a whole number from 400 to 599${id === "error.invalid_limit.status" ? ", or 200: a limit out of bounds is moved into them" : ""}`,
    matches: (value, { id }) => isWhole(value, 400, 599) || (value === 200 && id === "error.invalid_limit.status"),
    byOperation: true,
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
  error_category: { ...code, byOperation: true },
  error_code: { ...code, byOperation: true },
};

/** The problem of the value; undefined if it may stand there. */
export function formProblem(fact: ServiceFact, part: "value" | "name", value: FactValue, file?: AdoptedFacts): string | undefined {
  const { form, matches } = part === "name" ? nameForm(fact.kind) : adoptableKinds[fact.kind];
  if (matches === undefined || matches(value, fact, file)) return undefined;
  const id = part === "name" ? `${fact.id}.name` : fact.id;
  return `${id} takes ${typeof form === "function" ? form(fact) : form}; received ${JSON.stringify(value)}. The sandbox has ${JSON.stringify(fact.value)}.`;
}

const nameForm = (kind: FactKind) => (kind === "header" || kind === "delivery_header" ? HEADER_NAME : NAME);
