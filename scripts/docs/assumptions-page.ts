// Generates docs/assumptions.md from the list of facts.

import { type FactKind, factKinds, type ServiceFact } from "../../src/contracts/fact.ts";
import type { Ledger } from "../../src/reference/ledger.ts";
import { blocks, code, GENERATED, link, table } from "./markdown.ts";

/** By error code: how a recording shows its condition, or why it does not. */
export interface ConditionTexts {
  seen: Readonly<Record<string, string>>;
  unseen: Readonly<Record<string, string>>;
}

export function assumptionsPage({ total, facts }: Ledger, { seen, unseen }: ConditionTexts): string {
  const reasons = [...new Set(facts.flatMap(({ why }) => why ?? []))];
  const measured = facts.filter(({ kind }) => kind !== "behaviour");
  return `${blocks(
    GENERATED,
    "# Assumptions",
    `The service's documentation does not specify everything that the sandbox has to implement. This is every fact about the service on which the sandbox is built: ${total} of the ${facts.length} are assumptions, for ${reasons.length} reasons. A setting, where one is listed, changes the behaviour. A running sandbox returns this list at \`GET /_sandbox/assumptions\` and marks each assumption in its OpenAPI document with \`x-sandbox-assumed\`.`,
    ["Behaviour", "Facts", "Kinds", "Conditions", "Reasons"].map((name) => `- ${link(name, `#${name.toLowerCase()}`)}`).join("\n"),
    "## Behaviour",
    "Rules in words. No recording of single calls shows them; the parts that one does show are facts of their own.",
    behaviourTable(facts),
    "## Facts",
    "Origin: stated in the service's **document**, **assumed** for the numbered reason, or different by **design**. A recording of the service can confirm or contradict each fact; its kind says how.",
    table(
      ["Fact", "Kind", "Value", "Origin", "Setting"],
      measured.map((fact) => factRow(fact, reasons)),
    ),
    "## Kinds",
    table(["Kind", "What a recording shows", "Can be adopted"], kindRows(facts)),
    "## Conditions",
    `${link("`compare`", "real-service.md")} recognises the condition of an error from the request and the calls before it, not from the code of the response. A call is judged by the first rule that applies, in this order.`,
    table(
      ["Error", "The condition holds if"],
      Object.entries(seen).map(([error, when]) => [code(error), when]),
    ),
    "A recording does not show the condition of these errors:",
    table(
      ["Error", "Reason"],
      Object.entries(unseen).map(([error, why]) => [code(error), why]),
    ),
    "## Reasons",
    reasons.map((why, index) => `${index + 1}. ${why}`).join("\n"),
  )}\n`;
}

function behaviourTable(facts: readonly ServiceFact[]): string {
  const rows = facts.filter(({ kind }) => kind === "behaviour");
  return table(
    ["Assumption", "Reason", "Setting", "Id"],
    rows.map(({ id, value, why = "", setting }) => [String(value), why, settingOf(setting), code(id)]),
  );
}

function factRow({ id, kind, value, origin, why, setting }: ServiceFact, reasons: readonly string[]): string[] {
  const origins = why === undefined ? origin : `${origin} (${reasons.indexOf(why) + 1})`;
  return [code(id), kind, shownValue(value), origins, settingOf(setting)];
}

const settingOf = (setting: string | undefined) => (setting === undefined ? "" : code(setting));

const MOST_LISTED = 12;

function shownValue(value: ServiceFact["value"]): string {
  if (typeof value !== "object") return code(String(value));
  return value.length > MOST_LISTED ? `${value.length} values` : value.map(code).join(", ");
}

const kindRows = (facts: readonly ServiceFact[]): string[][] =>
  (Object.keys(factKinds) as FactKind[])
    .filter((kind) => facts.some((fact) => fact.kind === kind))
    .map((kind) => {
      const { observed, not } = { not: undefined, ...factKinds[kind] };
      return [code(kind), observed, not === undefined ? "yes" : `no: ${not}`];
    });
