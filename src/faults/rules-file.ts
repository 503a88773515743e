// Fault rules from a file: a list of them, each held to the grammar, with file and line where one is wrong.

import { ApiError, type FieldError, SandboxError } from "../kernel/errors.ts";
import { errorAt, readJsonFile } from "../store/world/json-file.ts";

/** Arms every rule of a file: a list, or an object whose `faults` is one. */
export async function armFile(path: string, add: (rule: unknown) => unknown): Promise<void> {
  const source = await readJsonFile(path);
  const { value } = source;
  const [rules, above] = Array.isArray(value) ? [value, ""] : [(value as { faults?: unknown } | null)?.faults, "/faults"];
  if (!Array.isArray(rules))
    throw new SandboxError(`${path}:1: a file of faults is a list of rules, or an object whose "faults" is one.`, "badFixture");
  for (const [index, rule] of rules.entries()) {
    try {
      add(rule);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const [first] = (error.details.errors ?? []) as FieldError[];
      throw await errorAt(source, `${above}/${index}${first?.pointer ?? ""}`, error.message);
    }
  }
}
