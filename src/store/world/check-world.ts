// Checks a merchant's whole world: every record against its schema, rules and references, and the sums between records.

import type { AnyRecord, RecordBase, RecordsByKind, Resource, Rule, RuleContext, WorldViolation } from "../../contracts/resource.ts";
import { ApiError } from "../../kernel/errors.ts";
import { fieldErrors } from "../../schema/validator.ts";
import { recordsInMemory } from "./records-in-memory.ts";

type Problem = Omit<WorldViolation, "kind" | "id">;

interface WorldContext {
  resources: readonly Resource[];
  world: RecordsByKind;
  /** Unix seconds on the sandbox clock. */
  now: number;
}

/** Everything in the world of a merchant that contradicts itself. */
export function checkWorld({ resources, world, now }: WorldContext): WorldViolation[] {
  const kinds = resources.filter(({ hidden }) => hidden.length === 0);
  const own = recordsInMemory(world);
  const each = kinds.flatMap((resource) =>
    (world.get(resource.kind) ?? []).flatMap((record) =>
      [
        ...fieldErrors(resource.schema, record).map(({ pointer, message }) => ({ field: pointer.slice(1), message })),
        ...resource.rules.flatMap((rule) => brokenRule(rule, record, { own, now })),
        ...danglingReferences(resource, record, world),
      ].map((problem) => ({ kind: resource.kind, id: record.id, ...problem })),
    ),
  );
  return [...each, ...kinds.flatMap(({ sums }) => sums.flatMap((check) => check(world)))];
}

/** The rule sees an unchanged record: what only holds of a change is not asked. */
function brokenRule(rule: Rule<RecordBase>, record: AnyRecord, context: Pick<RuleContext<RecordBase>, "own" | "now">): Problem[] {
  try {
    const problem = rule(record, { before: record, ...context });
    return problem ? [{ field: problem.field, message: problem.message }] : [];
  } catch (error) {
    if (error instanceof ApiError) return [{ message: error.message }];
    throw error;
  }
}

function danglingReferences({ references }: Resource, record: AnyRecord, world: RecordsByKind): Problem[] {
  return Object.entries(references).flatMap(([field, kind]) => {
    const id = record[field];
    return id == null || world.get(kind)?.some((other) => other.id === id)
      ? []
      : [{ field, message: `${field} is ${id}, which is no ${kind}` }];
  });
}
