// Reads scenario files, and reports errors with file and line.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { unknownRuleMessage } from "../contracts/verdict.ts";
import { ApiError, type FieldError, SandboxError } from "../kernel/errors.ts";
import { fieldErrors } from "../schema/validator.ts";
import { errorAt, readJsonFile } from "../store/world/json-file.ts";
import { type Scenario, type ScenarioFault, scenarioSchema } from "./scenario-schema.ts";

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
    throw new SandboxError(`${path}:1: a scenario is a JSON object with name, title, about, faults and expect.`, "badFixture");
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
  if (id !== undefined) return { pointer: "/id", message: "a rule of a scenario has no id: it gets one each time the scenario is armed." };
  const own = ["merchant", "key", "endpoint"].find((name) => Object.hasOwn((match ?? {}) as object, name));
  if (own === undefined) return undefined;
  return { pointer: `/match/${own}`, message: `leave match.${own} out: a scenario is armed for a merchant, or for all.` };
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
