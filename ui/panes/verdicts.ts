// The pane of verdicts, and the detail of one: the judge's findings about clients and webhook receivers, with their
// evidence.

import type { VerdictsListReply } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import { confirmationText, whereAndWhen } from "../../src/client/verdict-text.ts";
import type { AttemptMessage } from "../../src/contracts/live-messages.ts";
import type { VerdictMessage } from "../../src/contracts/verdict.ts";
import type { Fold } from "../state/list.ts";
import { mayHide, type Row } from "../state/rows.ts";
import { shortMerchant, type UiState, valuesOf } from "../state/state.ts";
import {
  count,
  countNote,
  dateTime,
  duration,
  failureMark,
  milliseconds,
  newestOf,
  timeOfDay,
  verdictLabel,
} from "../text/format.ts";
import { symbols } from "../text/style.ts";
import { copyApiKey } from "./controls/sandbox-forms.ts";
import { type DetailLine, type DetailWriter, linkTo } from "./details/detail-lines.ts";
import { requestText, resultOf, tryOf } from "./details/row-lines.ts";
import type { Detail } from "./overlays/detail.ts";
import { listPane, readAs } from "./pane.ts";

const verdictDetail = (verdict: VerdictMessage): Detail<{ verdicts: VerdictsListReply }> => ({
  title: `${verdict.rule}: ${verdict.verdict}`,
  fetch: { verdicts: controlCalls.verdicts.list({ rule: verdict.rule }) },
  lines({ verdicts }, write, state) {
    const { section, field } = write;
    const rule = verdicts?.rules.find(({ id }) => id === verdict.rule);
    const requests = verdict.calls.flatMap((call) => {
      const text = `${requestText(state, call.request)}, ${whereAndWhen(call)}`;
      return linkTo("requests", call.request, write.row(text));
    });
    const attempts = verdict.attempts.flatMap((id) => linkTo("deliveries", id, write.row(attemptText(state, id))));
    const measured = Object.entries(verdict.milliseconds);
    const kept =
      rule && `${count(rule.pass)} passed, ${count(rule.fail)} failed, ${count(rule.inconclusive)} inconclusive`;
    return [
      ...summary(write, verdict),
      ...section("Rule", rule ? write.text(rule.demands) : []),
      ...section("How to fix it", verdict.verdict === "pass" ? [] : write.text(verdict.hint)),
      ...section("Requests", requests),
      ...section("Delivery attempts", attempts),
      ...section(
        "Measured",
        measured.flatMap(([name, value]) => field(name, duration(value))),
      ),
      ...failuresOfRule(write, state, verdict.rule),
      ...section("Kept verdicts of this rule", field("total", kept)),
    ];
  },
});

function summary(
  { theme, band, field }: DetailWriter,
  { verdict, severity, message, confirmedBy, at, merchant, operation, fault }: VerdictMessage,
): DetailLine[] {
  const [label] = verdictLabel(theme, verdict);
  const isFailed = verdict === "fail";
  return [
    ...band(`${isFailed ? `${label} (${severity})` : label}: ${message}`, isFailed),
    "",
    ...field("evidence", confirmedBy && confirmationText({ confirmedBy })),
    ...field("time", dateTime(at)),
    ...field("merchant", merchant),
    ...field("operation", operation),
    ...linkTo("faults", fault ?? "", field("fault", fault, "magenta")),
  ];
}

const MAX_LINKS = 10;

/** Links to the newest failures of a rule, newest first. */
function failuresOfRule({ section, text }: DetailWriter, state: UiState, rule: string): DetailLine[] {
  const failed = valuesOf<VerdictMessage>(state, "verdicts").filter(
    (one) => one.rule === rule && one.verdict === "fail",
  );
  const shown = failed.slice(-MAX_LINKS).reverse();
  const total = state.made.verdicts.failures[rule] ?? shown.length;
  const heading = `Failures of this rule: ${newestOf(shown.length, total)}`;
  const linked = shown.flatMap((one) =>
    linkTo("verdicts", verdictId(one), text(`${timeOfDay(one.at)}  ${one.message}`)),
  );
  return section(heading, linked);
}

function attemptText(state: UiState, id: string): string {
  const found = valuesOf<AttemptMessage>(state, "deliveries").findLast((attempt) => attempt.id === id);
  if (!found) return id;
  return `${id}  ${timeOfDay(found.at)}  ${found.eventType} ${tryOf(found)}  ${resultOf(found)}`;
}

/** The section with the verdicts about a row, oldest first. */
export function verdictSection(
  { theme, section, field }: DetailWriter,
  state: UiState,
  isAbout: (verdict: VerdictMessage) => boolean,
): DetailLine[] {
  const found = valuesOf<VerdictMessage>(state, "verdicts").filter(isAbout);
  const linked = found.flatMap((one) => {
    const [label, style] = verdictLabel(theme, one.verdict);
    return linkTo("verdicts", verdictId(one), field(label, `${one.rule}: ${one.message}`, style));
  });
  return section("Verdicts", linked);
}

/** The id of a verdict's row; an open verdict has no id yet. */
const verdictId = ({ id, rule, requests }: VerdictMessage) => id ?? `open ${rule} ${requests[0] ?? ""}`;

/**
 * One row for each failed rule with its newest failure, newest first; then one row for all inconclusive verdicts, and
 * one for all that passed. With a filter, one row for each verdict, newest first.
 */
const foldVerdicts: Fold = (rows, isFiltered) => {
  if (isFiltered) return rows.toReversed();
  const newest = new Map<string, Row>();
  for (const row of rows) {
    const { rule, verdict } = (row.value ?? {}) as VerdictMessage;
    const name = verdict === "fail" ? rule : verdict;
    newest.delete(name);
    if (!row.gap) newest.set(name, row);
    else if (mayHide(row.gap, FAILED)) newest.set(row.id, row);
  }
  const groups = [...newest].reverse().map(([name, row]): Row => (row.gap ? row : groupRow(name, row)));
  const rankOf = ({ unfolds = "" }: Row) => (unfolds === "" ? 0 : 1) + (unfolds.endsWith("pass") ? 1 : 0);
  return groups.toSorted((one, other) => rankOf(one) - rankOf(other));
};

/** The newest verdict of a group. */
type VerdictGroup = VerdictMessage & { group: true };

function groupRow(name: string, { id, value, filterBy }: Row): Row {
  const group: VerdictGroup = { ...(value as VerdictMessage), group: true };
  const isFailed = group.verdict === "fail";
  return { id: `all ${name}`, ref: id, value: group, filterBy, ...(!isFailed && { unfolds: `verdict:${name}` }) };
}

/** `✗ 13 failed`: the sandbox's count, which includes verdicts that are not listed. */
function groupLabel({ theme, made: { verdicts: made } }: UiState, { rule, verdict }: VerdictMessage): string {
  const { good, bad, unsure } = symbols(theme);
  if (verdict === "pass") return `${good} ${count(made.pass)} passed`;
  return verdict === "fail"
    ? `${bad} ${count(made.failures[rule] ?? 1)} failed`
    : `${unsure} ${count(made.inconclusive)} inconclusive`;
}

const FAILED = "is:failed";

export const verdicts = listPane<VerdictMessage | VerdictGroup>({
  name: "verdicts",
  title: "Verdicts",
  rowId: verdictId,
  filterBy: ({ rule, verdict, merchant, operation, message, fault }) => ({
    text: `${rule} ${verdict} ${merchant ?? ""} ${message}`,
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
    needs: FAILED,
  },
  titleNote: ({ made }) => countNote(made.verdicts.fail, "failed"),
  alarm: ({ theme, made }) => failureMark(theme, made.verdicts.fail),
  fold: foldVerdicts,
  follows: false,
  failureOf: ({ verdict, message, hint }) => (verdict === "fail" ? `${message} ${hint}` : undefined),
  columns(found, state) {
    const { rule, verdict, merchant, message, hint } = found;
    const [label, style] = verdictLabel(state.theme, verdict);
    const isGroup = "group" in found;
    const isFolded = isGroup && verdict !== "fail";
    return [
      { heading: "verdict", text: isGroup ? groupLabel(state, found) : label, width: 10, styles: [style] },
      { heading: "rule", text: isFolded ? "" : rule, width: isFolded ? 0 : 12 },
      { heading: "finding", text: isFolded ? "Enter lists them." : message, claim: 40, rank: 1, grows: true },
      { heading: "how to fix it", text: verdict === "fail" ? hint : "", rank: 3 },
      { heading: "merchant", text: isGroup ? "" : shortMerchant(merchant), rank: 2, truncate: "middle" },
    ];
  },
  emptyText: () => [
    "No verdicts yet. The judge checks how clients handle failures.",
    "Press x to arm a fault, then run your client. Some verdicts come seconds after its last call.",
  ],
  detail: verdictDetail,
  keys: [copyApiKey(({ merchant }) => merchant)],
});
