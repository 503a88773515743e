// The steps of a trace in words, for everything that shows them.

import type { TraceStep } from "../contracts/trace.ts";

const CALL_BACK = "call back";

/** `call back req_lodge_4 POST /v1/payments 201, by time`. */
export function stepText({ kind, id, text, result, attributedBy }: TraceStep): string {
  const name = kind === "request" && attributedBy !== null ? CALL_BACK : kind;
  const outcome = result === null ? "" : `  ${result}`;
  return `${name} ${id}  ${text}${outcome}${attributedBy === "time" ? "  (by time)" : ""}`;
}
