// The format of a scenario file: a name and texts for people, fault rules, and the judge's rules that should pass.

import type { ScenarioExpectation } from "../contracts/scenario.ts";
import { RULE_PATTERN } from "../contracts/verdict.ts";
import { flag, type Static, Type, text } from "../schema/shapes.ts";

const closed = { additionalProperties: false } as const;

const texts = {
  name: text("The name of the scenario", { pattern: "^[a-z][a-z0-9]*(-[a-z0-9]+)*$", maxLength: 40 }),
  title: text("What fails, in one line", { minLength: 1, maxLength: 120 }),
  about: text("What happens, and what a correct client does about it", { minLength: 1, maxLength: 2_000 }),
};

const LENGTH = { minItems: 1, maxItems: 20 };

const expect = Type.Array(
  Type.Object(
    {
      rule: text("A rule of the judge by its id, or a pattern such as retry_after.*", { pattern: RULE_PATTERN }),
      points: Type.Integer({ description: "The points earned if a verdict of it passes and none fails", minimum: 1, maximum: 100 }),
      optional: Type.Optional(flag("Counts only once a verdict decides it (default: false)")),
    },
    closed,
  ),
  { ...LENGTH, description: "What the judge should find" },
);

/** Fault rules are checked separately, by `checkFault`. */
export const scenarioSchema = Type.Object({ ...texts, faults: Type.Array(Type.Unknown(), LENGTH), expect }, closed);

/** A fault rule as a scenario file contains it. */
export type ScenarioFault = Record<string, unknown>;

/** A valid scenario with its defaults. */
export type Scenario = Omit<Static<typeof scenarioSchema>, "faults" | "expect"> & {
  faults: ScenarioFault[];
  expect: ScenarioExpectation[];
};

/** The published schema; `rule` is the schema of a fault rule. */
export function jsonSchema(rule: Record<string, unknown>): Record<string, unknown> {
  const { $schema, ...items } = rule;
  const faults = { type: "array", ...LENGTH, description: "Fault rules, without id and merchant: both are set when the scenario is armed" };
  const described = Type.Object(
    { ...texts, faults: Type.Unsafe({ ...faults, items }), expect },
    { ...closed, title: "A scenario of merchant-sandbox" },
  );
  return { $schema, ...(JSON.parse(JSON.stringify(described)) as Record<string, unknown>) };
}
