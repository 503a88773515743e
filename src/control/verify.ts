// Verification: checks expectations on the run, and waits for them.

import { Expectations, VERDICTS } from "../contracts/expectations.ts";
import { fail } from "../kernel/errors.ts";
import { oneOf, Type } from "../schema/shapes.ts";
import { endpoint } from "./control-context.ts";

const Difference = Type.Object({ field: Type.String(), wanted: Type.Unknown(), received: Type.Unknown() });

const NearMiss = Type.Object(
  {
    id: Type.String(),
    what: Type.String({ description: "A short description" }),
    differs: Type.Array(Difference, { description: "The fields that differ" }),
  },
  { title: "near_miss" },
);

const Result = Type.Object(
  {
    expectation: Type.String({ description: "The kind of expectation, such as requests" }),
    verdict: oneOf(VERDICTS, "`inconclusive` if nothing happened that decides it"),
    message: Type.String(),
    found: Type.Integer({ description: "How many matched" }),
    evidence: Type.Array(Type.String(), { description: "Ids of the newest that matched" }),
    closest: Type.Array(NearMiss, { description: "If something is missing: the closest matches" }),
  },
  { title: "verification_result" },
);

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
  reply: Type.Object({
    verdict: oneOf(VERDICTS, "The worst verdict of all results"),
    waited: Type.Integer({ description: "Real milliseconds" }),
    results: Type.Array(Result, { description: "One for each expectation, in order" }),
  }),
  errors: ["validation_failed", "verification_failed"],
  async handle({ query, body: { all = [], ...rest }, verifier }) {
    const verified = await verifier.verify({ ...rest, all });
    if (query.strict !== "1" || verified.verdict === "pass") return verified;
    const missed = verified.results.filter(({ verdict }) => verdict !== "pass");
    const words = missed.map(({ expectation, message }) => `${expectation}: ${message}`);
    return fail("verification_failed", `${missed.length} of ${verified.results.length} did not pass. ${words.join(" ")}`, { ...verified });
  },
});
