// The pane of verdicts, and the detail of one: the judge's findings about clients and webhook receivers, with their evidence.

import type { VerdictsListReply } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import type { AttemptMessage } from "../../src/contracts/live-messages.ts";
import { confirmationText, type VerdictMessage, whereAndWhen } from "../../src/contracts/verdict.ts";
import { copyApiKey } from "../controls/sandbox-forms.ts";
import { type DetailLine, labelled, linkTo, paragraph, section, sectionOf, wrapped } from "../details/detail-lines.ts";
import { requestText, resultOf } from "../details/row-lines.ts";
import type { Detail } from "../overlays/detail.ts";
import { shortMerchant, type UiState, valuesOf } from "../state/state.ts";
import { count, dateTime, duration, failureMark, milliseconds, timeOfDay, verdictLabel } from "../view/format.ts";
import { listPane, readAs } from "./pane.ts";

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
    const totals = rule && `${count(rule.pass)} pass, ${count(rule.fail)} fail, ${count(rule.inconclusive)} inconclusive`;
    return [
      ...summary(state, verdict, width),
      ...section(theme, "Rule", rule ? paragraph(theme, width, rule.demands) : []),
      ...section(theme, "How to fix it", verdict.verdict === "pass" ? [] : paragraph(theme, width, verdict.hint)),
      ...section(theme, "Requests", requests),
      ...section(theme, "Delivery attempts", attempts),
      ...sectionOf(theme, "Measured", measured, ([name, value]) => labelled(theme, width, name, duration(value))),
      ...section(theme, "All verdicts of this rule", totals ? labelled(theme, width, "total", totals) : []),
    ];
  },
});

function summary(
  { theme }: UiState,
  { verdict, severity, says, confirmedBy, at, merchant, operation, fault }: VerdictMessage,
  width: number,
): DetailLine[] {
  const [label, style] = verdictLabel(theme, verdict);
  return [
    ...labelled(theme, width, "verdict", verdict === "fail" ? `${label} (${severity})` : label, style),
    ...labelled(theme, width, "finding", says),
    ...(confirmedBy === null ? [] : labelled(theme, width, "evidence", confirmationText({ confirmedBy }))),
    ...labelled(theme, width, "time", dateTime(at)),
    ...(merchant === null ? [] : labelled(theme, width, "merchant", merchant)),
    ...(operation === null ? [] : labelled(theme, width, "operation", operation)),
    ...(fault === null ? [] : linkTo("faults", fault, labelled(theme, width, "fault", fault, "magenta"))),
  ];
}

function attemptText(state: UiState, id: string): string {
  const found = valuesOf<AttemptMessage>(state, "deliveries").findLast((attempt) => attempt.id === id);
  if (!found) return id;
  return `${id}  ${timeOfDay(found.at)}  ${found.eventType} ${found.attempt}/${found.maxAttempts}  ${resultOf(found)}`;
}

/** The section with the verdicts about a row, oldest first. */
export const verdictSection = (state: UiState, width: number, isAbout: (verdict: VerdictMessage) => boolean): DetailLine[] =>
  sectionOf(state.theme, "Verdicts", valuesOf<VerdictMessage>(state, "verdicts").filter(isAbout), (found) => {
    const [label, style] = verdictLabel(state.theme, found.verdict);
    return linkTo("verdicts", verdictId(found), labelled(state.theme, width, label, `${found.rule}: ${found.says}`, style));
  });

/** The id of a verdict's row; an open verdict has no id yet. */
export const verdictId = ({ id, rule, requests }: VerdictMessage) => id ?? `open ${rule} ${requests[0] ?? ""}`;

/** A list of at least this width shows findings; in a narrower one, they would be cut to nothing. */
const FINDING_FROM = 56;

export const verdicts = listPane<VerdictMessage>({
  name: "verdicts",
  title: "Verdicts",
  rowId: verdictId,
  filterBy: ({ rule, verdict, merchant, operation, says, fault }) => ({
    text: `${rule} ${verdict} ${merchant ?? ""} ${says}`,
    fields: { rule, verdict, merchant, operation, fault, is: verdict === "fail" ? ["failed"] : [] },
  }),
  vocabulary: { fields: ["rule", "verdict", "merchant", "operation", "fault"], marks: ["failed"] },
  stream: "verdict",
  log: {
    // Leaves out open verdicts, which may still change.
    page: () =>
      readAs(controlCalls.verdicts.list(), ({ data: found }) => ({
        rows: found.filter(({ id }) => id !== null).map((verdict) => ({ ...verdict, at: milliseconds(verdict.at) })),
        hasMore: false,
      })),
    order: ({ id }) => Number(id?.slice("vdt_".length)),
    takesFilter: false,
    needs: "is:failed",
  },
  titleNote: ({ made: { verdicts: made } }) => (made.fail === 0 ? "" : `${count(made.fail)} failed`),
  alarm: ({ theme, made }) => failureMark(theme, made.verdicts.fail),
  columns({ rule, verdict, merchant, says }, { theme }, width) {
    const [label, style] = verdictLabel(theme, verdict);
    return [
      { heading: "verdict", text: label, width: 14, styles: [style] },
      { heading: "rule", text: rule, width: width < FINDING_FROM ? undefined : width < 70 ? 20 : 28, truncate: "middle" },
      { heading: "finding", text: says, hideBelow: FINDING_FROM },
      { heading: "merchant", text: shortMerchant(merchant), width: 8, truncate: "middle", hideBelow: 90 },
    ];
  },
  emptyText: () => ["No verdicts yet. The judge checks how clients handle failures.", "Press x to arm a fault, then run your client."],
  detail: verdictDetail,
  keys: [copyApiKey(({ merchant }) => merchant)],
});
