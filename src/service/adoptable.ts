// What a service file can change: for each kind of fact, the values that may stand there, or why it cannot be adopted.

import { type FactKind, type FactValue, factKinds, type ServiceFact } from "../contracts/fact.ts";

interface AdoptableKind {
  /** Why no fact of the kind can be adopted. */
  not?: string;
  /** The value may differ by operation: `payments.create/error.invalid_state.status`. */
  byOperation?: true;
  /** `<fact>.name` gives it another name. */
  rename?: true;
  /** What may stand there, for errors. */
  form?: string;
  matches?(value: FactValue, fact: ServiceFact): boolean;
}

const wholeNumber = (least: number, most: number) => ({
  form: `a whole number from ${least} to ${most}`,
  matches: (value: FactValue) => Number.isInteger(value) && (value as number) >= least && (value as number) <= most,
});

const oneOf = (...values: readonly string[]) => ({
  form: values.map((value) => JSON.stringify(value)).join(" or "),
  matches: (value: FactValue) => values.includes(String(value)),
});

const code = { form: "a text of 1 to 100 characters", matches: (value: FactValue) => isText(value, 100) };

const isText = (value: FactValue, most: number): value is string => typeof value === "string" && value.length > 0 && value.length <= most;

const NO_WAY = "the sandbox has no way to respond otherwise";

const declared: Readonly<Record<FactKind, { observed: string; not?: string }>> = factKinds;

const notAdopted = (Object.keys(declared) as FactKind[]).map((kind) => [kind, { not: declared[kind].not ?? NO_WAY }] as const);

export const adoptableKinds: { readonly [Kind in FactKind]: AdoptableKind } = {
  ...(Object.fromEntries(notAdopted) as { [Kind in FactKind]: AdoptableKind }),
  success_status: wholeNumber(200, 299),
  error_status: { ...wholeNumber(400, 599), byOperation: true },
  parameter: { rename: true, form: '"absent"', matches: (value) => value === "absent" || value === "known" },
  default: wholeNumber(1, 1_000),
  minimum: wholeNumber(0, 1_000),
  maximum: wholeNumber(1, 1_000),
  order: oneOf("newest first", "oldest first"),
  error_category: { ...code, byOperation: true },
  error_code: { ...code, byOperation: true },
};

/** What is wrong with the value; undefined if it may stand there. */
export function formProblem(fact: ServiceFact, part: "value" | "name", value: FactValue): string | undefined {
  const { form, matches } = part === "name" ? NAME : adoptableKinds[fact.kind];
  if (matches === undefined || matches(value, fact)) return undefined;
  const id = part === "name" ? `${fact.id}.name` : fact.id;
  return `${id} takes ${form}; received ${JSON.stringify(value)}. The sandbox has ${JSON.stringify(fact.value)}.`;
}

const NAME = {
  form: "a name of letters, digits, _ and -",
  matches: (value: FactValue) => typeof value === "string" && /^[A-Za-z][\w-]{0,79}$/.test(value),
};
