// Adds the fault rules of a file, and reports errors with file and line.

import { ApiError, type FieldError, SandboxError } from "../kernel/errors.ts";
import { errorAt, type FileMistake, readJsonFile } from "../store/world/json-file.ts";

/** The file contains a list of rules, or an object with the list in `faults`. */
export async function addRulesFromFile(path: string, add: (rule: unknown) => unknown, mistake: FileMistake = "badFixture"): Promise<void> {
  const source = await readJsonFile(path);
  const { value } = source;
  const [rules, parent] = Array.isArray(value) ? [value, ""] : [(value as { faults?: unknown } | null)?.faults, "/faults"];
  if (!Array.isArray(rules))
    throw new SandboxError(`${path}:1: a file of faults is a list of rules, or an object whose "faults" is one.`, "badFixture");
  for (const [index, rule] of rules.entries()) {
    try {
      add(rule);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const [first] = (error.details.errors ?? []) as FieldError[];
      throw await errorAt(source, `${parent}/${index}${first?.pointer ?? ""}`, error.message, mistake);
    }
  }
}
