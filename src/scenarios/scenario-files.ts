// Scenarios from files: each held to its format, with file and line where one is wrong.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { unknownRuleMessage } from "../contracts/verdict.ts";
import { ApiError, type FieldError, SandboxError } from "../kernel/errors.ts";
import { fieldErrors } from "../schema/validator.ts";
import { errorAt, readJsonFile } from "../store/world/json-file.ts";
import { type Scenario, ScenarioShape, type WrittenFault } from "./scenario-schema.ts";

export interface Grammar {
  /** Refuses what is no fault rule. */
  checkFault(rule: unknown): void;
  /** Ids of the judge's rules. */
  judgeRules: readonly string[];
}

const ENDING = ".json";

/** Every scenario of a folder, by name. */
export async function readFolder(folder: string, grammar: Grammar): Promise<Scenario[]> {
  const files = readdirSync(folder).filter((file) => file.endsWith(ENDING));
  return Promise.all(files.sort().map((file) => readScenario(join(folder, file), grammar)));
}

export async function readScenario(path: string, grammar: Grammar): Promise<Scenario> {
  const source = await readJsonFile(path);
  if (typeof source.value !== "object" || source.value === null || Array.isArray(source.value))
    throw new SandboxError(`${path}:1: a scenario is a JSON object with name, title, about, faults and expect.`, "badFixture");
  const problem = problemIn(source.value, grammar);
  if (problem) throw await errorAt(source, problem.pointer, problem.message);
  const { expect, ...scenario } = source.value as Scenario;
  return { ...scenario, expect: expect.map(({ rule, points, optional = false }) => ({ rule, points, optional })) };
}

type Problem = Pick<FieldError, "pointer" | "message">;

function problemIn(value: object, { checkFault, judgeRules }: Grammar): Problem | undefined {
  const [first] = fieldErrors(ScenarioShape, value);
  if (first) return first;
  const { faults, expect } = value as Scenario;
  for (const [index, fault] of faults.entries()) {
    const problem = ownerIn(fault) ?? refusalOf(() => checkFault(fault));
    if (problem) return { ...problem, pointer: `/faults/${index}${problem.pointer}` };
  }
  for (const [index, { rule }] of expect.entries()) {
    const message = unknownRuleMessage(rule, judgeRules);
    if (message !== undefined) return { pointer: `/expect/${index}/rule`, message };
  }
  return undefined;
}

/** Whom a rule strikes, and what it is called, is settled when the scenario is armed. */
function ownerIn(fault: WrittenFault | null): Problem | undefined {
  const { id, match } = fault ?? {};
  if (id !== undefined)
    return { pointer: "/id", message: "a rule of a scenario has no id: it gets one each time that the scenario is armed." };
  const own = ["merchant", "key", "endpoint"].find((name) => Object.hasOwn((match ?? {}) as object, name));
  if (own === undefined) return undefined;
  return { pointer: `/match/${own}`, message: `leave match.${own} out: a scenario is armed for a merchant, or for everybody.` };
}

function refusalOf(check: () => void): Problem | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const [first] = (error.details.errors ?? []) as FieldError[];
    return { pointer: first?.pointer ?? "", message: error.message };
  }
}
