// What the judge found, read from outside and cleared.

import { VERDICTS } from "../contracts/expectations.ts";
import type { VerdictMessage } from "../contracts/live-messages.ts";
import { unknownRuleMessage } from "../contracts/verdict.ts";
import { isoTime, parseTime } from "../kernel/clock.ts";
import { fail } from "../kernel/errors.ts";
import { oneOf, Type, text } from "../schema/shapes.ts";
import { endpoint } from "./control-context.ts";

const nullableText = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

export const VerdictShape = Type.Object(
  {
    id: nullableText("Null while it is open: what would be said if nothing more came"),
    rule: Type.String(),
    severity: oneOf(["error", "warning"], "How bad a failure is"),
    verdict: oneOf(VERDICTS, "`inconclusive` where nothing that came could tell"),
    at: Type.String({ description: "Sandbox time of what showed it" }),
    merchant: nullableText("Whose key was sent"),
    operation: nullableText("What was called"),
    says: Type.String({ description: "What happened" }),
    hint: Type.String({ description: "How to mend it" }),
    requests: Type.Array(Type.String(), { description: "The requests that show it" }),
    attempts: Type.Array(Type.String(), { description: "The delivery attempts that show it" }),
    milliseconds: Type.Record(Type.Number(), { description: "What was measured, in real time" }),
    fault: nullableText("The fault rule that brought it out"),
  },
  { title: "verdict" },
);

const RuleShape = Type.Object(
  {
    id: Type.String(),
    severity: oneOf(["error", "warning"], "How bad a failure is"),
    demands: Type.String(),
    hint: Type.String(),
    pass: Type.Integer(),
    fail: Type.Integer(),
    inconclusive: Type.Integer(),
  },
  { title: "judged_rule" },
);

export const listVerdicts = endpoint({
  id: "verdicts.list",
  area: "Judge",
  method: "GET",
  path: "/verdicts",
  summary: "What the judge found in how clients retry and how receivers take webhooks",
  description:
    "The judge is always on and never in the way. A 429, a 503, a lost answer or another failure that passes opens a question; " +
    "the same call sent again answers it. Times are real ones, whatever the sandbox clock says. The newest 1,000 of each verdict are kept.",
  query: Type.Object({
    rule: Type.Optional(text("Only of this rule, or of several, as in retry_after.*")),
    verdict: Type.Optional(oneOf(VERDICTS, "Only these")),
    merchant: Type.Optional(text("Only of this merchant")),
    since: Type.Optional(text("Only those at or after this sandbox time, such as 2026-01-05T09:00:00Z")),
  }),
  reply: Type.Object({
    verdicts: Type.Array(VerdictShape, { description: "Oldest first; those still open last" }),
    rules: Type.Array(RuleShape, { description: "Every rule, with how many of these verdicts are of it" }),
  }),
  errors: ["validation_failed"],
  handle({ query, judge }) {
    const { rule, since, ...filters } = query;
    const from = since === undefined ? undefined : parseTime(since);
    if (since !== undefined && from === undefined)
      fail("validation_failed", `since must be a time such as 2026-01-05T09:00:00Z; received ${JSON.stringify(since)}.`);
    const problem =
      rule === undefined
        ? undefined
        : unknownRuleMessage(
            rule,
            judge.rules.map(({ id }) => id),
          );
    if (problem !== undefined) fail("validation_failed", problem);
    const found = judge.verdicts({ ...filters, rule, since: from });
    const rules = judge.rules.map(({ id, severity, demands, hint }) => ({ id, severity, demands, hint, ...countOf(id, found) }));
    return { verdicts: found.map((verdict) => ({ ...verdict, at: isoTime(verdict.at) })), rules };
  },
});

function countOf(rule: string, found: readonly VerdictMessage[]) {
  const counted = { pass: 0, fail: 0, inconclusive: 0 };
  for (const verdict of found) if (verdict.rule === rule) counted[verdict.verdict]++;
  return counted;
}

export const clearVerdicts = endpoint({
  id: "verdicts.clear",
  area: "Judge",
  method: "DELETE",
  path: "/verdicts",
  summary: "Forget every verdict and everything that is open",
  reply: Type.Object({ cleared: Type.Integer({ description: "How many verdicts there were" }) }),
  handle({ judge }) {
    const cleared = judge.verdicts().length;
    judge.forget();
    return { cleared };
  },
});
