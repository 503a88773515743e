// Fault rules as a program handles them: held to the same grammar, and refused as a wrong use of the tool.

import { ApiError, SandboxError } from "../kernel/errors.ts";
import type { RuleBook, RuleState, WrittenRule } from "../kernel/fault.ts";

export interface FaultRules {
  add(rule: WrittenRule): RuleState;
  list(): RuleState[];
  find(id: string): RuleState;
  change(id: string, changes: Partial<Omit<WrittenRule, "id">>): RuleState;
  remove(id: string): RuleState;
  /** Removes every rule, or those that can only touch one merchant; answers how many. */
  clear(merchant?: string): number;
}

export function forPrograms(rules: RuleBook): FaultRules {
  return {
    add: (rule) => explained(() => rules.add(rule)),
    list: rules.list,
    find: (id) => explained(() => rules.find(id)),
    change: (id, changes) => explained(() => rules.change(id, changes)),
    remove: (id) => explained(() => rules.remove(id)),
    clear: rules.clear,
  };
}

/** What the control plane would answer is here the caller's own mistake. */
function explained<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof ApiError ? new SandboxError(error.message, "usage") : error;
  }
}
