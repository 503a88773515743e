// For every assumption that can be set, a value other than its default. One sandbox accepts all values together.

import type { FactValue, ServiceFact } from "../../src/contracts/fact.ts";
import { ownFacts } from "../../src/sandbox/documents.ts";

export const settableFacts = () => ownFacts().filter((fact) => fact.settable !== undefined);

const ofKind: Record<string, FactValue> = { success_status: 202, default: 4, minimum: 3, maximum: 40 };

const ofId: Record<string, FactValue> = {
  "http.body_bytes": 1_000,
  "retry.schedule": [60, 300],
  "rate_limit.retry_after": 45,
};

function otherValue({ id, kind, value, settable }: ServiceFact): FactValue {
  const { enum: choices, maximum = Infinity } = settable as { enum?: string[]; maximum?: number };
  const other = choices?.find((choice) => choice !== value) ?? `${value}x`;
  return ofId[id] ?? ofKind[kind] ?? (typeof value === "number" ? value + (value < maximum ? 1 : -1) : other);
}

export const otherAssumptions = (): Record<string, FactValue> =>
  Object.fromEntries(settableFacts().map((fact) => [fact.id, otherValue(fact)]));
