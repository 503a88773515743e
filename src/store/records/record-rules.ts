// Checks records against the rules of their kind: rejects values that contradict one another and references to records
// that do not exist, and warns of unlikely values.

import type { RecordBase, Resource, RuleContext, RuleProblem } from "../../contracts/resource.ts";
import { errorSummary, fail } from "../../kernel/errors.ts";

interface CheckContext<R> extends RuleContext<R> {
  /** Whether the merchant has a record of this kind with this id. */
  exists(kind: string, id: string): boolean;
  /** Receives warnings about unlikely values of the record. Without it, the check for unlikely values is skipped. */
  warn?: ((text: string) => void) | undefined;
}

/**
 * Rejects a record that breaks a rule with a 400 that names every wrong field. If no rule is broken, warns of unlikely
 * values.
 */
export function checkRules<R extends RecordBase>(resource: Resource<R>, record: R, context: CheckContext<R>): void {
  const problems = problemsOf(resource, record, context);
  if (problems.length === 0) {
    warnAbout(resource, record, context);
    return;
  }
  const errors = problems.map(({ field, ...problem }) => ({
    pointer: `/${field}`,
    field: field.replaceAll("/", "."),
    ...problem,
  }));
  fail("validation_failed", errorSummary(errors), { errors });
}

function warnAbout<R extends RecordBase>(
  { warnings }: Resource<R>,
  record: R,
  { warn, ...context }: CheckContext<R>,
): void {
  if (!warn) return;
  for (const warning of warnings) {
    const text = warning(record, context);
    if (text !== undefined) warn(text);
  }
}

function problemsOf<R extends RecordBase>(resource: Resource<R>, record: R, context: CheckContext<R>): RuleProblem[] {
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

/** The problem of a field, or of a path, that names a record the merchant does not have. */
export const unknownReference = (field: string, kind: string, id: string): RuleProblem => ({
  field,
  code: "unknown_reference",
  message: `${field.replaceAll("/", ".")} must be the id of a ${kind} of yours; received ${JSON.stringify(id)}.`,
});
