// The schema of a fault rule: common fields, match and trigger, with one variant for each action.

import type { ApiPhase, FaultTarget } from "../contracts/fault.ts";
import { RulePattern } from "../contracts/verdict.ts";
import { once, oncePerKey } from "../kernel/once.ts";
import { flag, oneOf, type Static, type TObject, Type, text, withDefault } from "../schema/shapes.ts";
import type { Action } from "./action.ts";
import { apiActions } from "./api-actions.ts";
import { deliveryActions } from "./delivery-actions.ts";
import { span } from "./fields.ts";
import { type ApiMatch, apiMatchSchema, type DeliveryFaultMatch, deliveryMatchSchema, isReached } from "./matching.ts";
import { type BudgetScope, SCOPES_OF, type TriggerInput, triggerSchema } from "./trigger.ts";

export const actions: readonly Action[] = [...apiActions, ...deliveryActions];

export const RULE_FIELDS = {
  id: Type.Optional(
    withDefault(text("A name for programs", { pattern: "^flt_[0-9A-Za-z_-]{1,60}$" }), "a generated id"),
  ),
  name: Type.Optional(text("A name for people", { maxLength: 200 })),
  expect: Type.Optional(
    Type.Array(RulePattern, {
      description: "The judge's rules that the fault tests",
      maxItems: 50,
    }),
  ),
  ttl: Type.Optional(withDefault(span("How long the rule lives, in sandbox time"), "until a reset")),
  priority: Type.Optional(
    withDefault(
      Type.Integer({
        description: "Rules with a higher priority are tried first, equal rules in the order in which they were added",
        minimum: -1_000,
        maximum: 1_000,
      }),
      "0",
    ),
  ),
  label: Type.Optional(withDefault(flag("Whether responses name the rule in X-Sandbox-Fault"), "true")),
  enabled: Type.Optional(withDefault(flag("Whether the rule can fire at all"), "true")),
};

export type ActionInput = Parameters<
  (typeof apiActions)[number]["prepare"] | (typeof deliveryActions)[number]["prepare"]
>[0];

/** A rule as a client writes it. */
export type RuleInput = Static<TObject<typeof RULE_FIELDS>> & {
  target?: FaultTarget;
  match?: ApiMatch & DeliveryFaultMatch;
  trigger?: TriggerInput;
  action: ActionInput;
};

export const matchSchemas = { api: apiMatchSchema, delivery: deliveryMatchSchema };

export const ruleSchema = oncePerKey(({ type, target, description, schema }: Action) =>
  Type.Object(
    {
      ...RULE_FIELDS,
      target: Type.Optional(oneOf([target], "What it acts on; follows from the action")),
      match: Type.Optional(matchSchemas[target]),
      trigger: Type.Optional(triggerSchema),
      action: schema,
    },
    { additionalProperties: false, title: type, description },
  ),
);

export const jsonSchema = once(
  (): Record<string, unknown> => ({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "A fault rule of merchant-sandbox",
    oneOf: actions.map(publishedSchema),
  }),
);

interface PublishedRule {
  properties: Record<
    "action" | "match" | "trigger",
    { properties: Record<string, { enum?: unknown[]; "x-only-with"?: unknown }> }
  >;
}

/**
 * The published schema of a rule: puts the main field first, and drops conditions that the action's phase cannot
 * evaluate.
 */
function publishedSchema(action: Action): PublishedRule {
  const { target, phase, main, onlyWith } = action;
  const schema = JSON.parse(JSON.stringify(ruleSchema(action))) as PublishedRule;
  const { action: own, match, trigger } = schema.properties;
  const { type, ...fields } = own.properties;
  const first = main === undefined ? {} : { [main]: fields[main] };
  own.properties = { type, ...first, ...fields } as typeof own.properties;
  for (const [name, condition] of Object.entries(onlyWith ?? {}))
    Object.assign(own.properties[name] ?? {}, { "x-only-with": condition });
  const isKnown = (needed: ApiPhase) => target === "delivery" || isReached(needed, phase as ApiPhase);
  if (!isKnown("auth")) delete match.properties.operation;
  if (!isKnown("recall")) delete match.properties.body;
  const { per } = trigger.properties;
  if (per) per.enum = per.enum?.filter((scope) => scope === null || SCOPES_OF[target].includes(scope as BudgetScope));
  if (per && !isKnown("auth")) per.enum = per.enum?.filter((scope) => scope !== "operation");
  return schema;
}
