// Generates docs/faults.md: each fault action with an example and its fields, and the fields of a rule.

import type { FaultTarget } from "../../src/contracts/fault.ts";
import type { TProperties, TSchema } from "../../src/schema/shapes.ts";
import { blocks, code, fence, GENERATED, table } from "./markdown.ts";

export interface DocumentedAction {
  type: string;
  target: FaultTarget;
  description: string;
  example: string;
  schema: { properties: TProperties };
}

export interface FaultSchemas {
  actions: readonly DocumentedAction[];
  match: Record<FaultTarget, { properties: TProperties }>;
  trigger: { properties: TProperties };
  rule: TProperties;
}

const EXAMPLE = {
  name: "the response to the first payroll of each key is lost",
  match: { operation: "payroll.create", header: { "Idempotency-Key": { present: true } } },
  trigger: { per: "idempotency_key" },
  action: { type: "lost_response", as: "reset" },
};

export function faultsPage({ actions, match, trigger, rule }: FaultSchemas): string {
  return `${blocks(
    GENERATED,
    "# Faults",
    "A fault rule says which calls or deliveries fail, when, and how. " +
      "Without a trigger, a rule affects only the next matching call or delivery. " +
      "At each point of the request pipeline the first rule that fires wins; latency adds to any other fault. " +
      "A rule ends when its `ttl` is over, when it is removed, and on a reset.",
    "Four ways to add a rule:",
    fence(
      "sh",
      [
        "npx merchant-sandbox fault add lost-response payroll.create --per idempotency_key",
        "curl -X POST http://127.0.0.1:4747/_sandbox/faults -H 'Content-Type: application/json' " +
          `-d '${JSON.stringify({ match: { operation: "payroll.create" }, action: EXAMPLE.action })}'`,
        "curl http://127.0.0.1:4747/v1/payments -H 'Authorization: Bearer sk_test_lodge' " +
          "-H 'X-Sandbox-Inject: status=503; retryAfter=2'",
        "npx merchant-sandbox --faults faults.json",
      ].join("\n"),
    ),
    "The header affects only the request that carries it; separate several actions with commas. " +
      "The file contains a list of rules such as this one:",
    fence("json", JSON.stringify(EXAMPLE, null, 2)),
    "## API faults",
    list(actions, "api"),
    "## Delivery faults",
    list(actions, "delivery"),
    "## Rule fields",
    fields(rule),
    "### match, for calls",
    fields(match.api.properties),
    "### match, for deliveries",
    fields(match.delivery.properties),
    "A plain value must be equal. " +
      "`{present, eq, ne, gt, gte, lt, lte, in, contains, startsWith}` compare in other ways; " +
      "all of those given must hold.",
    "### trigger",
    fields(trigger.properties),
    "## Action fields",
    ...actions.flatMap(({ type, schema }) => [`### ${type}`, fields(schema.properties)]),
    "`GET /_sandbox/faults/schema.json` returns all of this as JSON Schema.",
  )}\n`;
}

const list = (actions: readonly DocumentedAction[], target: FaultTarget) =>
  table(
    ["Action", "What it does", "Example"],
    actions
      .filter((action) => action.target === target)
      .map(({ type, description, example }) => [code(type), description, code(`fault add ${example}`)]),
  );

const fields = (properties: TProperties) =>
  table(
    ["Field", "Description"],
    Object.entries(properties)
      .filter(([name]) => name !== "type")
      .map(([name, schema]) => [code(name), described(schema)]),
  );

function described(schema: TSchema): string {
  const { description = "", enum: values = [] } = schema as { description?: string; enum?: (string | null)[] };
  const choices = values.filter((value) => value !== null).map((value) => code(value));
  return choices.length === 0 ? description : `${description}: ${choices.join(", ")}`;
}
