// The page of faults: each action with its line, its fields, and the grammar that they share.

import type { FaultTarget } from "../contracts/fault.ts";
import type { TProperties, TSchema } from "../schema/shapes.ts";
import { blocks, code, fence, GENERATED, table } from "./markdown.ts";

/** An action as the page sees it. */
export interface DocumentedAction {
  type: string;
  target: FaultTarget;
  description: string;
  example: string;
  schema: { properties: TProperties };
}

export interface FaultGrammar {
  actions: readonly DocumentedAction[];
  match: Record<FaultTarget, { properties: TProperties }>;
  trigger: { properties: TProperties };
  rule: TProperties;
}

const EXAMPLE = {
  name: "the first payroll of each key is made, and its answer lost",
  match: { operation: "payroll.create", header: { "Idempotency-Key": { present: true } } },
  trigger: { per: "idempotency_key" },
  action: { type: "lost_response", as: "reset" },
};

export function faultsPage({ actions, match, trigger, rule }: FaultGrammar): string {
  return `${blocks(
    GENERATED,
    "# Faults",
    "A rule says which calls or deliveries go wrong, when, and how. Without a trigger it is the next one. At each point of a call's way the first rule that fires wins; latency comes on top of anything. Rules end with their `ttl`, when they are removed, and with a reset.",
    "Four ways to one rule:",
    fence(
      "sh",
      [
        "merchant-sandbox fault add lost-response payroll.create --per idempotency_key",
        `curl -X POST http://127.0.0.1:4747/_sandbox/faults -H 'Content-Type: application/json' -d '${JSON.stringify({ match: { operation: "payroll.create" }, action: EXAMPLE.action })}'`,
        "curl http://127.0.0.1:4747/v1/payments -H 'Authorization: Bearer sk_test_lodge' -H 'X-Sandbox-Inject: status=503; retryAfter=2'",
        "merchant-sandbox --faults faults.json",
      ].join("\n"),
    ),
    "The header is for the one request that carries it; several actions are parted by commas. The file holds a list of rules such as this one:",
    fence("json", JSON.stringify(EXAMPLE, null, 2)),
    "## On calls",
    list(actions, "api"),
    "## On deliveries",
    list(actions, "delivery"),
    "## A rule",
    fields(rule),
    "### match, for calls",
    fields(match.api.properties),
    "### match, for deliveries",
    fields(match.delivery.properties),
    "A value is compared as it is; `{present, eq, ne, gt, gte, lt, lte, in, contains, startsWith}` compare otherwise, and all that are given must hold.",
    "### trigger",
    fields(trigger.properties),
    "## The fields of each action",
    ...actions.flatMap(({ type, schema }) => [`### ${type}`, fields(schema.properties)]),
    "`GET /_sandbox/faults/schema.json` has all of this as JSON Schema.",
  )}\n`;
}

const list = (actions: readonly DocumentedAction[], target: FaultTarget) =>
  table(
    ["Action", "Does", "In one line"],
    actions
      .filter((action) => action.target === target)
      .map(({ type, description, example }) => [code(type), description, code(`fault add ${example}`)]),
  );

const fields = (properties: TProperties) =>
  table(
    ["Field", "Is"],
    Object.entries(properties)
      .filter(([name]) => name !== "type")
      .map(([name, schema]) => [code(name), described(schema)]),
  );

function described(schema: TSchema): string {
  const { description = "", enum: values = [] } = schema as { description?: string; enum?: (string | null)[] };
  const choices = values.filter((value) => value !== null).map((value) => code(value));
  return choices.length === 0 ? description : `${description}: ${choices.join(", ")}`;
}
