// The statuses of successes as the real service sends them.

import type { Operation } from "../store/operation-context.ts";
import type { AdoptedFacts } from "./adopted-facts.ts";

export function adoptedOperation(operation: Operation, facts: AdoptedFacts): Operation {
  const status = facts.number(`${operation.id}.status`);
  return status === undefined ? operation : { ...operation, status };
}
