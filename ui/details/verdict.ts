// The detail of a verdict: the finding, the rule, how to fix it, and the requests and attempts it is based on.

import type { JudgedRule, VerdictsListReply } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import type { AttemptMessage } from "../../src/contracts/live-messages.ts";
import { proofOf, type VerdictMessage, whereAndWhen } from "../../src/contracts/verdict.ts";
import type { Detail } from "../overlays/detail.ts";
import { type UiState, valuesOf } from "../state/state.ts";
import { count, dateTime, duration, timeOfDay, verdictLabel } from "../view/format.ts";
import { type DetailLine, labelled, linkTo, paragraph, section, sectionOf, wrapped } from "./detail-lines.ts";
import { requestText, resultOf } from "./row-lines.ts";

export const verdictDetail = (_: UiState, verdict: VerdictMessage): Detail<{ verdicts: VerdictsListReply }> => ({
  title: `${verdict.rule}: ${verdict.verdict}`,
  fetch: { verdicts: controlCalls.verdicts.list({ rule: verdict.rule }) },
  lines({ verdicts }, state, width) {
    const { theme } = state;
    const rule = verdicts?.rules.find(({ id }) => id === verdict.rule);
    const requests = verdict.calls.flatMap((call) => {
      const text = `${requestText(state, call.request)}, ${whereAndWhen(call)}`;
      return linkTo("requests", call.request, wrapped(text, width, "  "));
    });
    const attempts = verdict.attempts.flatMap((id) => linkTo("deliveries", id, wrapped(attemptText(state, id), width, "  ")));
    const measured = Object.entries(verdict.milliseconds);
    return [
      ...summary(state, verdict, width),
      ...section(theme, "Rule", rule ? paragraph(theme, width, rule.demands) : []),
      ...section(theme, "How to fix it", verdict.verdict === "pass" ? [] : paragraph(theme, width, verdict.hint)),
      ...section(theme, "Requests", requests),
      ...section(theme, "Delivery attempts", attempts),
      ...sectionOf(theme, "Measured", measured, ([name, value]) => labelled(theme, width, name, duration(value))),
      ...section(theme, "All verdicts of this rule", rule ? labelled(theme, width, "total", totals(rule)) : []),
    ];
  },
});

function summary(
  { theme }: UiState,
  { verdict, severity, says, provenBy, at, merchant, operation, fault }: VerdictMessage,
  width: number,
): DetailLine[] {
  const [label, style] = verdictLabel(theme, verdict);
  return [
    ...labelled(theme, width, "verdict", verdict === "fail" ? `${label} (${severity})` : label, style),
    ...labelled(theme, width, "finding", says),
    ...(provenBy === null ? [] : labelled(theme, width, "evidence", proofOf({ provenBy }))),
    ...labelled(theme, width, "time", dateTime(at)),
    ...(merchant === null ? [] : labelled(theme, width, "merchant", merchant)),
    ...(operation === null ? [] : labelled(theme, width, "operation", operation)),
    ...(fault === null ? [] : linkTo("faults", fault, labelled(theme, width, "fault", fault, "magenta"))),
  ];
}

const totals = ({ pass, fail, inconclusive }: JudgedRule) =>
  `${count(pass)} pass, ${count(fail)} fail, ${count(inconclusive)} inconclusive`;

function attemptText(state: UiState, id: string): string {
  const found = valuesOf<AttemptMessage>(state, "deliveries").findLast((attempt) => attempt.id === id);
  if (!found) return id;
  return `${id}  ${timeOfDay(found.at)}  ${found.eventType} ${found.attempt}/${found.maxAttempts}  ${resultOf(found)}`;
}

/** The section of the verdicts on a row, oldest first. */
export const verdictSection = (state: UiState, width: number, isAbout: (verdict: VerdictMessage) => boolean): DetailLine[] =>
  sectionOf(state.theme, "Verdicts", valuesOf<VerdictMessage>(state, "verdicts").filter(isAbout), (found) => {
    const [label, style] = verdictLabel(state.theme, found.verdict);
    return linkTo("verdicts", verdictId(found), labelled(state.theme, width, label, `${found.rule}: ${found.says}`, style));
  });

/** The id of a verdict's row; an open verdict has no id of its own yet. */
export const verdictId = ({ id, rule, requests }: VerdictMessage) => id ?? `open ${rule} ${requests[0] ?? ""}`;
