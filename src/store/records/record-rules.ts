// Checks records against the rules of their kind: rejects values that contradict one another and references to records
// that do not exist, and names what is unlikely.

import type { RecordBase, Resource, RuleContext, RuleProblem } from "../../contracts/resource.ts";
import { unknownReference } from "../../contracts/rules.ts";
import { errorSummary, fail } from "../../kernel/errors.ts";

interface CheckContext<R> extends RuleContext<R> {
  /** Whether the merchant has a record of this kind with this id. */
  exists(kind: string, id: string): boolean;
}

/**
 * Rejects a record that breaks a rule with a 400 that names every wrong field. A kind without rules costs two property
 * reads.
 */
export function checkRules<R extends RecordBase>(resource: Resource<R>, record: R, context: CheckContext<R>): void {
  const problems = problemsOf(resource, record, context);
  if (problems.length === 0) return;
  const errors = problems.map(({ field, ...problem }) => ({
    pointer: `/${field}`,
    field: field.replaceAll("/", "."),
    ...problem,
  }));
  fail("validation_failed", errorSummary(errors), { errors });
}

export function problemsOf<R extends RecordBase>(
  resource: Resource<R>,
  record: R,
  context: CheckContext<R>,
): RuleProblem[] {
  const found: RuleProblem[] = [];
  for (const rule of resource.rules) {
    const problem = rule(record, context);
    if (problem) found.push(problem);
  }
  for (const field in resource.references) {
    const id = record[field as keyof R];
    const kind = resource.references[field] as string;
    if (typeof id !== "string" || id === context.before?.[field as keyof R] || context.exists(kind, id)) continue;
    found.push(unknownReference(field, kind, id));
  }
  return found;
}

/** What is unlikely about a record, one sentence each. */
export const warningsOf = <R extends RecordBase>(
  { warnings }: Pick<Resource<R>, "warnings">,
  record: R,
  context: RuleContext<R>,
): string[] => warnings.flatMap((warning) => warning(record, context) ?? []);
