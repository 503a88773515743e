// One verdict: what happened, what the rule demands, how to mend it, and everything that shows it.

import type { AttemptMessage, RequestMessage, VerdictMessage } from "../../src/contracts/live-messages.ts";
import { count, duration } from "../format-numbers.ts";
import type { Detail } from "../overlays/detail.ts";
import { listOf, type State } from "../state/state.ts";
import { verdictWords } from "../status-colours.ts";
import { timeOfDay, wholeTime } from "../time.ts";
import { inPath } from "../wire/control-calls.ts";
import { resultOf } from "./attempt-line.ts";
import { fact, part, plain, sentences } from "./detail-lines.ts";

interface Judged {
  rules: { id: string; demands: string; pass: number; fail: number; inconclusive: number }[];
}

export const verdictDetail = (_: State, verdict: VerdictMessage): Detail => ({
  title: `${verdict.rule}: ${verdict.verdict}`,
  asks: { judged: { method: "GET", path: `/verdicts?rule=${inPath(verdict.rule)}` } },
  lines(known, state, width) {
    const { look } = state;
    const rule = (known.judged as Judged | undefined)?.rules.find(({ id }) => id === verdict.rule);
    return [
      ...summary(state, verdict, width),
      ...part(look, "The rule", rule ? sentences(look, width, rule.demands) : []),
      ...part(look, "How to mend it", verdict.verdict === "pass" ? [] : sentences(look, width, verdict.hint)),
      ...part(
        look,
        "Requests that show it",
        verdict.requests.flatMap((id) => plain(requestWords(state, id), width, "  ")),
      ),
      ...part(
        look,
        "Attempts that show it",
        verdict.attempts.flatMap((id) => plain(attemptWords(state, id), width, "  ")),
      ),
      ...part(
        look,
        "Measured",
        Object.entries(verdict.milliseconds).flatMap(([name, value]) => fact(look, width, name, duration(value))),
      ),
      ...part(look, "So far", rule ? fact(look, width, "verdicts", soFar(rule)) : []),
    ];
  },
});

function summary({ look }: State, { verdict, severity, says, at, merchant, operation, fault }: VerdictMessage, width: number): string[] {
  const [words, tone] = verdictWords(look, verdict);
  return [
    ...fact(look, width, "verdict", verdict === "fail" ? `${words} (${severity})` : words, tone),
    ...fact(look, width, "says", says),
    ...fact(look, width, "at", wholeTime(at)),
    ...(merchant === null ? [] : fact(look, width, "merchant", merchant)),
    ...(operation === null ? [] : fact(look, width, "operation", operation)),
    ...(fault === null ? [] : fact(look, width, "brought out by", fault, "magenta")),
  ];
}

const soFar = ({ pass, fail, inconclusive }: Judged["rules"][number]) =>
  `${count(pass)} pass, ${count(fail)} fail, ${count(inconclusive)} inconclusive`;

/** A request in a line, as far as the list still has it. */
function requestWords(state: State, id: string): string {
  const found = listOf(state, "requests").rows.findLast((row) => row.id === id)?.value as RequestMessage | undefined;
  if (!found) return id;
  return `${id}  ${timeOfDay(found.at)}  ${found.method} ${found.path}  ${found.status || "no answer"}`;
}

function attemptWords(state: State, id: string): string {
  const found = listOf(state, "deliveries").rows.findLast((row) => row.id === id)?.value as AttemptMessage | undefined;
  if (!found) return id;
  return `${id}  ${timeOfDay(found.at)}  ${found.eventType} ${found.attempt}/${found.maxAttempts}  ${resultOf(found)}`;
}
