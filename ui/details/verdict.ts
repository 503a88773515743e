// The detail of a verdict: the finding, the rule, how to fix it, and the requests and attempts it is based on.

import { controlCalls } from "../../src/client/control-call.ts";
import type { JudgedRule, VerdictsListReply } from "../../src/client/control-plane.generated.ts";
import type { AttemptMessage, RequestMessage } from "../../src/contracts/live-messages.ts";
import { proofOf, type VerdictMessage, whereAndWhen } from "../../src/contracts/verdict.ts";
import type { Detail } from "../overlays/detail.ts";
import { type UiState, valuesOf } from "../state/state.ts";
import { count, dateTime, duration, timeOfDay } from "../view/format.ts";
import { verdictLabel } from "../view/status-colours.ts";
import { labelled, paragraph, section, wrapped } from "./detail-lines.ts";
import { requestLine, resultOf } from "./row-lines.ts";

export const verdictDetail = (_: UiState, verdict: VerdictMessage): Detail<{ verdicts: VerdictsListReply }> => ({
  title: `${verdict.rule}: ${verdict.verdict}`,
  fetch: { verdicts: controlCalls.verdicts.list({ rule: verdict.rule }) },
  lines({ verdicts }, state, width) {
    const { theme } = state;
    const rule = verdicts?.rules.find(({ id }) => id === verdict.rule);
    const requests = verdict.calls.map((call) => `${requestText(state, call.request)}, ${whereAndWhen(call)}`);
    const attempts = verdict.attempts.map((id) => attemptText(state, id));
    const measured = Object.entries(verdict.milliseconds);
    return [
      ...summary(state, verdict, width),
      ...section(theme, "Rule", rule ? paragraph(theme, width, rule.demands) : []),
      ...section(theme, "How to fix it", verdict.verdict === "pass" ? [] : paragraph(theme, width, verdict.hint)),
      ...section(
        theme,
        "Requests",
        requests.flatMap((text) => wrapped(text, width, "  ")),
      ),
      ...section(
        theme,
        "Delivery attempts",
        attempts.flatMap((text) => wrapped(text, width, "  ")),
      ),
      ...section(
        theme,
        "Measured",
        measured.flatMap(([name, value]) => labelled(theme, width, name, duration(value))),
      ),
      ...section(theme, "All verdicts of this rule", rule ? labelled(theme, width, "total", totals(rule)) : []),
    ];
  },
});

function summary(
  { theme }: UiState,
  { verdict, severity, says, provenBy, at, merchant, operation, fault }: VerdictMessage,
  width: number,
): string[] {
  const [label, style] = verdictLabel(theme, verdict);
  return [
    ...labelled(theme, width, "verdict", verdict === "fail" ? `${label} (${severity})` : label, style),
    ...labelled(theme, width, "finding", says),
    ...(provenBy === null ? [] : labelled(theme, width, "evidence", proofOf({ provenBy }))),
    ...labelled(theme, width, "time", dateTime(at)),
    ...(merchant === null ? [] : labelled(theme, width, "merchant", merchant)),
    ...(operation === null ? [] : labelled(theme, width, "operation", operation)),
    ...(fault === null ? [] : labelled(theme, width, "fault", fault, "magenta")),
  ];
}

const totals = ({ pass, fail, inconclusive }: JudgedRule) =>
  `${count(pass)} pass, ${count(fail)} fail, ${count(inconclusive)} inconclusive`;

/** A request in one line; its id alone once the list has dropped it. */
function requestText(state: UiState, id: string): string {
  const found = valuesOf<RequestMessage>(state, "requests").findLast((request) => request.id === id);
  return found ? requestLine(found) : id;
}

function attemptText(state: UiState, id: string): string {
  const found = valuesOf<AttemptMessage>(state, "deliveries").findLast((attempt) => attempt.id === id);
  if (!found) return id;
  return `${id}  ${timeOfDay(found.at)}  ${found.eventType} ${found.attempt}/${found.maxAttempts}  ${resultOf(found)}`;
}
