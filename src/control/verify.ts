// Verification: checks expectations on the run, and waits for them.

import { Expectations, Verification } from "../contracts/expectations.ts";
import { fail } from "../kernel/errors.ts";
import { Type } from "../schema/shapes.ts";
import { endpoint } from "./control-context.ts";

export const verify = endpoint({
  id: "sandbox.verify",
  area: "Verification",
  method: "POST",
  path: "/verify",
  summary: "Check expectations on the run, and wait for them if needed",
  description:
    "Replies as soon as everything holds at one moment, the result can no longer change, or `within` is over. Covers everything since the last reset.",
  query: Type.Object({
    strict: Type.Optional(
      Type.String({ pattern: "^[01]$", description: "1: reply 409 unless everything passed, so that `curl -f` fails" }),
    ),
  }),
  body: Expectations,
  example: { within: "2s", all: [{ requests: { match: { operation: "payments.list" }, count: { exactly: 0 } } }] },
  reply: Verification,
  errors: ["validation_failed", "verification_failed", "sandbox_unavailable"],
  async handle({ query, body: { all = [], ...rest }, verifier }) {
    const verified = await verifier.verify({ ...rest, all });
    if (query.strict !== "1" || verified.verdict === "pass") return verified;
    const missed = verified.results.filter(({ verdict }) => verdict !== "pass");
    const words = missed.map(({ expectation, message }) => `${expectation}: ${message}`);
    return fail("verification_failed", `${missed.length} of ${verified.results.length} did not pass. ${words.join(" ")}`, { ...verified });
  },
});
