// The grammar of a rule: one schema for each action, made of parts that all share, and the JSON Schema that is published.

import type { FaultTarget } from "../contracts/fault.ts";
import { RULE_PATTERN } from "../contracts/verdict.ts";
import { oneOf, type TObject, type TProperties, Type, text } from "../schema/shapes.ts";
import type { Action } from "./action.ts";
import { apiActions } from "./api-actions.ts";
import { deliveryActions } from "./delivery-actions.ts";
import { span } from "./fields.ts";
import { type ApiMatch, apiMatchSchema, type DeliveryMatch, deliveryMatchSchema } from "./matching.ts";
import { type GivenTrigger, triggerSchema } from "./trigger.ts";

/** Every action there is. */
export const actions: readonly Action[] = [...apiActions, ...deliveryActions];

/** What a rule may ask for. */
export type GivenAction = NonNullable<(typeof apiActions)[number]["input"] | (typeof deliveryActions)[number]["input"]>;

export const RULE_FIELDS = {
  id: Type.Optional(text("A name for machines; made up unless given", { pattern: "^flt_[0-9A-Za-z_-]{1,60}$" })),
  name: Type.Optional(text("A name for people", { maxLength: 200 })),
  expect: Type.Optional(
    Type.Array(Type.String({ pattern: RULE_PATTERN }), {
      description: "Rules of the judge that this one tries",
      maxItems: 50,
    }),
  ),
  ttl: Type.Optional(span("How long the rule lives, in sandbox time; until a reset unless given")),
  priority: Type.Optional(
    Type.Integer({
      description: "Rules with a higher one are tried first, equal ones in the order in which they came; 0 unless given",
      minimum: -1_000,
      maximum: 1_000,
    }),
  ),
  label: Type.Optional(Type.Boolean({ description: "Whether answers say in X-Sandbox-Fault which rule touched them; yes unless given" })),
  enabled: Type.Optional(Type.Boolean({ description: "A rule that is not enabled touches nothing; yes unless given" })),
};

/** A rule as somebody writes it. */
export interface GivenRule {
  id?: string;
  name?: string;
  target?: FaultTarget;
  match?: ApiMatch & DeliveryMatch;
  trigger?: GivenTrigger;
  action: GivenAction;
  expect?: string[];
  ttl?: string;
  priority?: number;
  label?: boolean;
  enabled?: boolean;
}

export const matchSchemas = { api: apiMatchSchema, delivery: deliveryMatchSchema };

const schemas = new Map<string, TObject<TProperties>>();

/** The schema of a rule with this action. */
export function ruleSchema(action: Action) {
  const known = schemas.get(action.type);
  if (known) return known;
  const made = Type.Object(
    {
      ...RULE_FIELDS,
      target: Type.Optional(oneOf([action.target], "What it acts on; follows from the action")),
      match: Type.Optional(matchSchemas[action.target]),
      trigger: Type.Optional(triggerSchema),
      action: action.schema,
    },
    { additionalProperties: false, title: action.type, description: action.does },
  );
  schemas.set(action.type, made);
  return made;
}

/** The published schema: a rule is one of these. */
export const jsonSchema = (): Record<string, unknown> => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "A fault rule of merchant-sandbox",
  oneOf: actions.map((action) => JSON.parse(JSON.stringify(ruleSchema(action))) as unknown),
});
