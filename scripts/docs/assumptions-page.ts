// Generates docs/assumptions.md: the rules that the sandbox follows where the service's documentation is silent, and
// what a recording shows of each kind of fact.

import { type FactKind, factKinds, type ServiceFact } from "../../src/contracts/fact.ts";
import type { Ledger } from "../reference/ledger.ts";
import { blocks, code, fence, GENERATED, link, table } from "./markdown.ts";

/** For each error code, how a recording shows the condition of the error, or why no recording shows it. */
export interface ConditionTexts {
  seen: Readonly<Record<string, string>>;
  unseen: Readonly<Record<string, string>>;
}

export function assumptionsPage({ total, facts }: Ledger, { seen, unseen }: ConditionTexts): string {
  const rules = facts.filter(({ kind }) => kind === "behaviour");
  return `${blocks(
    GENERATED,
    "# Assumptions",
    "The service's documentation does not specify everything that the sandbox has to implement. " +
      "These are the rules that the sandbox follows where the documentation is silent, each with the reason, " +
      `and the setting that changes it if there is one. They come down to ${facts.length} facts, ` +
      `such as the type of a field or the status of an error, of which ${total} are assumed:`,
    fence("sh", "npx merchant-sandbox assumptions payments.list"),
    "The command lists the facts whose ids contain a text, with value, origin and reason. " +
      "A running sandbox returns all of them at `GET /_sandbox/assumptions`, " +
      "and marks each assumption in its OpenAPI document with `x-sandbox-assumed`. " +
      `${link("`compare`", "real-service.md")} says which of them a recording of the service confirms.`,
    "## Behaviour",
    table(
      ["Assumption", "Reason", "Setting", "Id"],
      rules.map(({ id, value, why = "", setting }) => [
        String(value),
        why,
        setting === undefined ? "" : code(setting),
        code(id),
      ]),
    ),
    "## Values that can be set",
    "Each of these facts is one value. Set it with `assumptions` in `merchant-sandbox.json` or `createSandbox()`, " +
      "or with `--assume id=value` on the command line. Any other value is rejected with the reason. " +
      "The list of assumptions then shows the value that you set, with the default beside it.",
    fence(
      "json",
      '{ "assumptions": { "bookings.decline.status": 202, "error.validation_failed.status": 422, ' +
        '"retry.schedule": [60, 300] } }',
    ),
    table(["Id", "Values", "Default"], settableRows(facts)),
    "## Kinds",
    "The kind of a fact says how a recording shows it.",
    table(["Kind", "What a recording shows"], kindRows(facts)),
    "## Conditions",
    "`compare` recognises the condition of an error from the request and the calls before it, " +
      "not from the code of the response. A call is judged by the first rule that applies, in this order.",
    table(
      ["Error", "The condition holds if"],
      Object.entries(seen).map(([error, when]) => [code(error), when]),
    ),
    "A recording does not show the condition of these errors:",
    table(
      ["Error", "Reason"],
      Object.entries(unseen).map(([error, why]) => [code(error), why]),
    ),
  )}\n`;
}

/** One row for each fact that stands alone, and one for each group of operations or errors. */
function settableRows(facts: readonly ServiceFact[]): string[][] {
  const groups = new Map<string, string[]>();
  for (const { id, kind, value, settable } of facts) {
    if (!settable) continue;
    const name = GROUPS[kind] ?? id;
    if (!groups.has(name))
      groups.set(name, [
        code(name),
        valuesText(settable),
        kind in GROUPS ? (DEFAULTS[kind] ?? code(JSON.stringify(value))) : code(JSON.stringify(value)),
      ]);
  }
  return [...groups.values()];
}

const GROUPS: Partial<Record<FactKind, string>> = {
  success_status: "<operation>.status",
  default: "<operation>.query.limit.default",
  minimum: "<operation>.query.limit.minimum",
  maximum: "<operation>.query.limit.maximum",
  error_status: "error.<code>.status",
  error_category: "error.<code>.category",
  error_code: "error.<code>.code",
};

const DEFAULTS: Partial<Record<FactKind, string>> = {
  success_status: "200 or 201, as in the [reference](reference.md)",
  error_status: "as in the [reference](reference.md)",
  error_category: "as in the [reference](reference.md)",
  error_code: "the code itself",
};

function valuesText(schema: object): string {
  const { type, minimum, maximum, maxLength, items, anyOf, ...rest } = schema as Record<string, never>;
  const { enum: listed, const: only } = rest as { enum?: string[]; const?: string };
  if (anyOf) return (anyOf as object[]).map(valuesText).join(", or ");
  if (listed) return (listed as string[]).map((one) => code(JSON.stringify(one))).join(", ");
  if (only !== undefined) return code(JSON.stringify(only));
  if (items) return `a list: ${valuesText(items)}`;
  if (type === "string") return `a text of at most ${maxLength} characters`;
  return `${type === "integer" ? "a whole number" : "a number"} from ${minimum} to ${maximum}`;
}

const kindRows = (facts: readonly ServiceFact[]): string[][] =>
  (Object.keys(factKinds) as FactKind[])
    .filter((kind) => facts.some((fact) => fact.kind === kind))
    .map((kind) => [code(kind), factKinds[kind].observed]);
