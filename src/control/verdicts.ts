// The verdicts of the judge: list, add and clear them.

import { endpointFactory } from "../areas/declare/operation.ts";
import { unknownRuleMessage } from "../client/verdict-text.ts";
import { AddedSandbox, JudgedRule, ShownVerdict, VERDICTS, type VerdictMessage } from "../contracts/verdict.ts";
import type { Judge } from "../judge/judge.ts";
import { isoTime } from "../kernel/clock.ts";
import { fail } from "../kernel/errors.ts";
import { pick } from "../kernel/pick.ts";
import type { ReceiverChecks } from "../report/receiver-checks.ts";
import type { Scenarios } from "../scenarios/index.ts";
import { oneOf, Type, text, zeroOrOne } from "../schema/shapes.ts";
import { timeOf, wholeList, wholeListOf } from "./given-values.ts";

const endpoint = endpointFactory<{
  judge: Pick<Judge, "rules" | "verdicts" | "adopt" | "clear">;
  checks: Pick<ReceiverChecks, "clear">;
  scenarios: Pick<Scenarios, "forgetEnded">;
}>("Judge");

const CountedRule = Type.Object(
  { ...JudgedRule.properties, pass: Type.Integer(), fail: Type.Integer(), inconclusive: Type.Integer() },
  { title: "judged_rule" },
);

const listVerdicts = endpoint({
  id: "verdicts.list",
  method: "GET",
  path: "/verdicts",
  summary: "List verdicts on how clients retry and how receivers handle webhooks",
  description:
    "The judge always watches and never changes a response. " +
    "After a 429, a 503, a lost response or another transient failure, " +
    "it checks the client's next call of the same kind. A wait counts in real time or in sandbox time, " +
    "whichever is longer, so a client of a frozen sandbox waits by advancing the clock. " +
    "The newest 1,000 of each verdict are kept.",
  query: Type.Object({
    rule: Type.Optional(text("Only verdicts of this rule, or of several, as in retry_after.*")),
    verdict: Type.Optional(oneOf(VERDICTS, "Only rows with this verdict")),
    merchant: Type.Optional(text("Only verdicts of this merchant")),
    since: Type.Optional(text("Only verdicts at or after this sandbox time, such as 2026-01-05T09:00:00Z")),
    erased: Type.Optional(zeroOrOne("1 also lists failed and inconclusive verdicts that a reset deleted (default: 0)")),
  }),
  reply: Type.Object({
    ...wholeListOf(ShownVerdict, "Newest first, by `at`; at the same time, open ones come first").properties,
    rules: Type.Array(CountedRule, { description: "Every rule, with the counts of these verdicts" }),
  }),
  handle({ query, judge }) {
    const { rule, since, erased, ...filters } = query;
    const known = judge.rules.map(({ id }) => id);
    const problem = rule === undefined ? undefined : unknownRuleMessage(rule, known);
    if (problem !== undefined) fail("validation_failed", problem);
    const found = judge.verdicts({ ...filters, rule, since: timeOf("since", since), erased: erased === "1" });
    const rules = judge.rules.map((one) => ({
      ...pick(one, ["id", "severity", "demands", "hint"]),
      ...countOf(one.id, found),
    }));
    const newestFirst = found.toReversed().toSorted((one, other) => other.at - one.at);
    return { ...wholeList(newestFirst.map(showVerdict)), rules };
  },
});

const showVerdict = (verdict: VerdictMessage) => ({ ...verdict, at: isoTime(verdict.at) });

const getVerdict = endpoint({
  id: "verdicts.get",
  method: "GET",
  path: "/verdicts/{id}",
  summary: "Get a verdict",
  reply: ShownVerdict,
  errors: ["resource_not_found"],
  handle({ params: { id }, judge }) {
    const found = judge.verdicts().find((one) => one.id === id);
    return showVerdict(
      found ?? fail("resource_not_found", `There is no verdict ${id}. The newest 1,000 of each kind are kept.`),
    );
  },
});

function countOf(rule: string, found: readonly VerdictMessage[]) {
  const counted = { pass: 0, fail: 0, inconclusive: 0 };
  for (const verdict of found) if (verdict.rule === rule) counted[verdict.verdict]++;
  return counted;
}

const addVerdicts = endpoint({
  id: "verdicts.add",
  method: "POST",
  path: "/verdicts",
  summary: "Add the verdicts of another sandbox",
  description:
    "Under `exec`, each sandbox that a test creates with `createSandbox()` makes this call twice: at its start, " +
    "without a number of requests, and when it closes. The report of the run and `--fail-on` then include its " +
    "verdicts.",
  body: Type.Object({ ...AddedSandbox.properties, verdicts: Type.Array(ShownVerdict, { maxItems: 5_000 }) }),
  example: { sandbox: "http://127.0.0.1:41233", requests: 1, verdicts: [] },
  reply: Type.Object({ added: Type.Integer({ description: "How many verdicts were added" }) }),
  status: 201,
  handle({ body: { sandbox = "", requests = null, verdicts = [] }, judge }) {
    judge.adopt(
      { sandbox, requests },
      verdicts.map((verdict) => ({ ...verdict, at: timeOf("at", verdict.at) ?? 0 })),
    );
    return { added: verdicts.length };
  },
});

const clearVerdicts = endpoint({
  id: "verdicts.clear",
  method: "DELETE",
  path: "/verdicts",
  summary: "Delete all verdicts, including open ones",
  description: "Also deletes the results of audits, counts of effects and disarmed scenarios from the report.",
  reply: Type.Object({ cleared: Type.Integer({ description: "How many verdicts were deleted" }) }),
  handle({ judge, checks, scenarios }) {
    const cleared = judge.verdicts().length;
    judge.clear();
    checks.clear();
    scenarios.forgetEnded();
    return { cleared };
  },
});

export const operations = [listVerdicts, getVerdict, addVerdicts, clearVerdicts];
