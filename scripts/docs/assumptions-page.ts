// Generates docs/assumptions.md: the rules of the sandbox where the documentation is silent, and how recordings show
// facts.

import { type FactKind, factKinds, type ServiceFact } from "../../src/contracts/fact.ts";
import type { Ledger } from "../reference/ledger.ts";
import { blocks, code, fence, GENERATED, link, table } from "./markdown.ts";

/** By error code: how a recording shows its condition, or why it does not. */
export interface ConditionTexts {
  seen: Readonly<Record<string, string>>;
  unseen: Readonly<Record<string, string>>;
}

export function assumptionsPage({ total, facts }: Ledger, { seen, unseen }: ConditionTexts): string {
  const rules = facts.filter(({ kind }) => kind === "behaviour");
  return `${blocks(
    GENERATED,
    "# Assumptions",
    `The service's documentation does not specify everything that the sandbox has to implement. These are the rules that the sandbox follows where it is silent, each with the reason, and the setting that changes it if there is one. They come down to ${facts.length} facts, such as the type of a field or the status of an error, of which ${total} are assumed:`,
    fence("sh", "npx merchant-sandbox assumptions payments.list"),
    `The command lists the facts whose ids contain a text, with value, origin and reason. A running sandbox returns all of them at \`GET /_sandbox/assumptions\`, and marks each assumption in its OpenAPI document with \`x-sandbox-assumed\`. ${link("`compare`", "real-service.md")} says which of them a recording of the service confirms.`,
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
    "## Kinds",
    "The kind of a fact says how a recording shows it.",
    table(["Kind", "What a recording shows"], kindRows(facts)),
    "## Conditions",
    "`compare` recognises the condition of an error from the request and the calls before it, not from the code of the response. A call is judged by the first rule that applies, in this order.",
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

const kindRows = (facts: readonly ServiceFact[]): string[][] =>
  (Object.keys(factKinds) as FactKind[])
    .filter((kind) => facts.some((fact) => fact.kind === kind))
    .map((kind) => [code(kind), factKinds[kind].observed]);
