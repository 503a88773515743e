// Assertions from outside: a test says what it expects of a run, and is answered once that holds or cannot hold any more.

import { Expectations, VERDICTS } from "../contracts/expectations.ts";
import { fail } from "../kernel/errors.ts";
import { oneOf, Type } from "../schema/shapes.ts";
import { endpoint } from "./control-context.ts";

const Difference = Type.Object({ field: Type.String(), wanted: Type.Unknown(), received: Type.Unknown() });

const NearMiss = Type.Object(
  {
    id: Type.String(),
    what: Type.String({ description: "What it is, in a few words" }),
    differs: Type.Array(Difference, { description: "Where it is not what was wanted" }),
  },
  { title: "near_miss" },
);

const Result = Type.Object(
  {
    expectation: Type.String({ description: "Which sort it is, such as requests" }),
    verdict: oneOf(VERDICTS, "`inconclusive` where nothing happened that could tell"),
    message: Type.String(),
    found: Type.Integer({ description: "How many matched" }),
    evidence: Type.Array(Type.String(), { description: "Ids of the newest that matched" }),
    closest: Type.Array(NearMiss, { description: "Where something is missing: what came nearest to it" }),
  },
  { title: "verification_result" },
);

export const verify = endpoint({
  id: "sandbox.verify",
  area: "Verification",
  method: "POST",
  path: "/verify",
  summary: "Hold a run against what is expected of it, and wait for it if need be",
  description:
    "Answers as soon as everything holds at one moment, or nothing can change any more, or `within` is over. Looks at everything since the last reset.",
  query: Type.Object({
    strict: Type.Optional(
      Type.String({ pattern: "^[01]$", description: "1: answer 409 unless everything passed, so that `curl -f` fails" }),
    ),
  }),
  body: Expectations,
  example: { within: "2s", all: [{ requests: { match: { operation: "payments.list" }, count: { exactly: 0 } } }] },
  reply: Type.Object({
    verdict: oneOf(VERDICTS, "The worst of all results"),
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
