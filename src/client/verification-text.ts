// The result of an expectation as text: what was found, and what came closest if something is missing.

import type { NearMiss, VerificationResult } from "../contracts/expectations.ts";

export function explainResult({ message, evidence, closest }: VerificationResult): string {
  const found = evidence.length > 0 ? [`Matched: ${evidence.join(", ")}`] : [];
  const nearest = closest.length > 0 ? ["Closest:", ...closest.map(missed)] : [];
  return [message, ...found, ...nearest].join("\n");
}

function missed({ id, what, differs }: NearMiss): string {
  const shown = (value: unknown) => JSON.stringify(value);
  const where = differs.map(
    ({ field, expected, received }) => `${field} is ${shown(received)}, expected ${shown(expected)}`,
  );
  return `  ${id} ${what}: ${where.join("; ")}`;
}
