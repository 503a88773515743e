// The steps of a trace in words, for everything that shows them.

import type { TraceStep } from "../contracts/trace.ts";

/** `time` is a guess: the caller may be another client. */
const CALLS_BACK = { span: "call back", trace: "call back", time: "perhaps a call back" };

/** `perhaps a call back req_lodge_4  POST /v1/payments  201  (by time)`. */
export function stepText({ kind, id, text, result, attributedBy }: TraceStep): string {
  const name = kind === "request" && attributedBy !== null ? CALLS_BACK[attributedBy] : kind;
  const outcome = result === null ? "" : `  ${result}`;
  return `${name} ${id}  ${text}${outcome}${attributedBy === "time" ? "  (by time)" : ""}`;
}
