// Reads scenario files, and reports errors with file and line.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { unknownRuleMessage } from "../client/verdict-text.ts";
import type { ScenarioExpectation } from "../contracts/scenario.ts";
import { RulePattern } from "../contracts/verdict.ts";
import { ApiError, type FieldError, SandboxError } from "../kernel/errors.ts";
import { flag, type Static, Type, text } from "../schema/shapes.ts";
import { fieldErrors } from "../schema/validator.ts";
import { errorAt, readJsonFile } from "../store/world/json-file.ts";

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
      rule: RulePattern,
      points: Type.Integer({
        description: "Points earned if a verdict of the rule passes and none fails",
        minimum: 1,
        maximum: 100,
      }),
      optional: Type.Optional(flag("Whether the rule counts only if a verdict decides it (default: false)")),
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
  const faults = {
    type: "array",
    ...LENGTH,
    description: "Fault rules, without id and merchant: both are set when the scenario is armed",
  };
  const described = Type.Object(
    { ...texts, faults: Type.Unsafe({ ...faults, items }), expect },
    { ...closed, title: "A scenario of merchant-sandbox" },
  );
  return { $schema, ...(JSON.parse(JSON.stringify(described)) as Record<string, unknown>) };
}

export interface ScenarioChecks {
  /** Fails if a fault rule is not valid. */
  checkFault(rule: unknown): void;
  /** Ids of the judge's rules. */
  judgeRules: readonly string[];
}

/** Every scenario of a folder, ordered by file name. */
export async function readFolder(folder: string, checks: ScenarioChecks): Promise<Scenario[]> {
  const files = readdirSync(folder).filter((file) => file.endsWith(".json"));
  return Promise.all(files.sort().map((file) => readScenario(join(folder, file), checks)));
}

export async function readScenario(path: string, checks: ScenarioChecks): Promise<Scenario> {
  const source = await readJsonFile(path);
  if (typeof source.value !== "object" || source.value === null || Array.isArray(source.value))
    throw new SandboxError(
      `${path}:1: a scenario is a JSON object with name, title, about, faults and expect.`,
      "badFixture",
    );
  const problem = problemIn(source.value, checks);
  if (problem) throw await errorAt(source, problem.pointer, problem.message);
  const { expect, ...scenario } = source.value as Scenario;
  return { ...scenario, expect: expect.map(({ rule, points, optional = false }) => ({ rule, points, optional })) };
}

type ScenarioProblem = Pick<FieldError, "pointer" | "message">;

function problemIn(value: object, { checkFault, judgeRules }: ScenarioChecks): ScenarioProblem | undefined {
  const [first] = fieldErrors(scenarioSchema, value);
  if (first) return first;
  const { faults, expect } = value as Scenario;
  for (const [index, fault] of faults.entries()) {
    const problem = ownerProblem(fault) ?? errorOf(() => checkFault(fault));
    if (problem) return { ...problem, pointer: `/faults/${index}${problem.pointer}` };
  }
  for (const [index, { rule }] of expect.entries()) {
    const message = unknownRuleMessage(rule, judgeRules);
    if (message !== undefined) return { pointer: `/expect/${index}/rule`, message };
  }
  return undefined;
}

/** A rule must not set its id or its merchant: both are set when the scenario is armed. */
function ownerProblem(fault: ScenarioFault | null): ScenarioProblem | undefined {
  const { id, match } = fault ?? {};
  if (id !== undefined)
    return { pointer: "/id", message: "a rule of a scenario has no id: it gets one each time the scenario is armed." };
  const own = ["merchant", "key", "endpoint"].find((name) => Object.hasOwn((match ?? {}) as object, name));
  if (own === undefined) return undefined;
  return {
    pointer: `/match/${own}`,
    message: `leave match.${own} out: a scenario is armed for a merchant, or for all.`,
  };
}

function errorOf(check: () => void): ScenarioProblem | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const [first] = (error.details.errors ?? []) as FieldError[];
    return { pointer: first?.pointer ?? "", message: error.message };
  }
}
