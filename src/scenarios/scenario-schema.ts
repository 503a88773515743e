// The format of a scenario: one JSON object with words for people, fault rules, and what they are to show.

import type { ScenarioExpectation } from "../contracts/scenario.ts";
import { RULE_PATTERN } from "../contracts/verdict.ts";
import { flag, Type, text } from "../schema/shapes.ts";

const closed = { additionalProperties: false } as const;

export type WrittenFault = Readonly<Record<string, unknown>>;

export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly faults: readonly WrittenFault[];
  readonly expect: readonly ScenarioExpectation[];
}

const ExpectationShape = Type.Object(
  {
    rule: text("A rule of the judge by its id, or several at once, as in retry_after.*", { pattern: RULE_PATTERN }),
    points: Type.Integer({ description: "What it is worth that one of them passes and none fails", minimum: 1, maximum: 100 }),
    optional: Type.Optional(flag("Counts only once something was seen that could tell; no unless given")),
  },
  closed,
);

const common = {
  name: text("What it is called", { pattern: "^[a-z][a-z0-9]*(-[a-z0-9]+)*$", maxLength: 40 }),
  title: text("What breaks, in one line", { minLength: 1, maxLength: 120 }),
  about: text("What happens, and what a sound client does about it", { minLength: 1, maxLength: 2_000 }),
};
const SOME = { minItems: 1, maxItems: 20 };
const expect = Type.Array(ExpectationShape, { ...SOME, description: "What the judge is to find" });

/** What a fault rule may say is for the grammar of faults to judge. */
export const ScenarioShape = Type.Object({ ...common, faults: Type.Array(Type.Unknown(), SOME), expect }, closed);

/** The published schema; `rule` is that of a fault rule. */
export function jsonSchema(rule: Record<string, unknown>): Record<string, unknown> {
  const { $schema, ...items } = rule;
  const faults = {
    type: "array",
    ...SOME,
    description: "Fault rules, without id and merchant: whoever arms the scenario says whom it strikes",
  };
  const described = Type.Object(
    { ...common, faults: Type.Unsafe({ ...faults, items }), expect },
    { ...closed, title: "A scenario of merchant-sandbox" },
  );
  return { $schema, ...(JSON.parse(JSON.stringify(described)) as Record<string, unknown>) };
}
