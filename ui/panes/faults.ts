// The pane of fault rules: how often each may still fire, and how clients coped with it.

import type { FaultRule } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import type { VerdictMessage } from "../../src/contracts/verdict.ts";
import { endRule } from "../controls/faults.ts";
import { faultDetail, ruleTitle, statusName } from "../details/fault.ts";
import { secondsUntil, type UiState, valuesOf } from "../state/state.ts";
import { sanitize } from "../view/cells.ts";
import { count, countdown, counted, milliseconds } from "../view/format.ts";
import type { TextStyle } from "../view/style.ts";
import { listPane, programCommand } from "./pane.ts";

export const faults = listPane<FaultRule>({
  name: "faults",
  title: "Faults",
  rowId: ({ id }) => id,
  filterBy: ({ id, name, status, target, action }) => ({
    text: `${id} ${name ?? ""} ${action.type} ${status} ${statusName(status)}`,
    fields: { id, name, status, target, action: String(action.type) },
  }),
  poll: controlCalls.faults.list(),
  titleNote(state) {
    const armed = valuesOf<FaultRule>(state, "faults").filter(isArmed).length;
    return [...scenarioScores(state), ...(armed === 0 ? [] : [`${count(armed)} armed`])].join("  ");
  },
  alarm(state) {
    const armed = valuesOf<FaultRule>(state, "faults").filter(isArmed).length;
    return armed === 0 ? "" : `*${count(armed)}`;
  },
  columns(shown, state, width) {
    // A removed rule that is still selected must not show a countdown.
    const isListed = valuesOf<FaultRule>(state, "faults").some(({ id }) => id === shown.id);
    const rule = isListed ? shown : { ...shown, status: "removed" as const };
    const styles: TextStyle[] = isArmed(rule) ? ["magenta"] : ["dim"];
    const isNarrow = width < 56;
    const [status, note] = [statusOf(rule), noteOf(state, rule)];
    return [
      { text: isArmed(rule) ? "*" : "", width: 1, styles },
      { heading: "fault", text: ruleTitle(rule), truncate: "middle", styles: isArmed(rule) ? [] : ["dim"] },
      {
        heading: "status",
        text: isNarrow ? status.replace(" of ", "/").replace(/exhausted.*/, "0 left") : status,
        width: isNarrow ? 8 : 14,
        styles,
      },
      {
        heading: isNarrow ? "verdict" : "ttl, verdict",
        text: isNarrow ? note.replace(VERDICT, "") : note,
        width: isNarrow ? 8 : 13,
        styles: note.endsWith("fail") ? ["failure"] : ["dim"],
      },
    ];
  },
  emptyText: (state) => ["No faults armed. Press x, or run:", "", programCommand(state, "fault add 429")],
  detail: faultDetail,
  keys: [
    {
      keys: ["d"],
      label: "remove",
      help: "remove the fault rule",
      isEnabled: (state, rule) => valuesOf<FaultRule>(state, "faults").some(({ id }) => id === rule.id),
      run: (state, rule) => endRule(state, rule, ({ id, name, fired }) => `Removed ${name ?? id}; it fired ${counted(fired, "time")}`),
    },
  ],
});

/** The score of each armed scenario, such as `lost-response 5/10`. */
const scenarioScores = ({ sandbox }: UiState) =>
  (sandbox?.scenarios ?? []).map(({ name, score, points }) => `${sanitize(name)} ${score}/${points}`);

const isArmed = ({ status, enabled }: FaultRule) => status === "armed" && enabled;

function statusOf({ status, enabled, fired, remaining, trigger }: FaultRule): string {
  if (!enabled) return "disabled";
  if (status === "spent") return `${statusName(status)} (${count(fired)})`;
  if (status !== "armed") return status;
  return remaining === null ? `fired ${count(fired)}` : `${count(remaining)} of ${count(Number(trigger.times))} left`;
}

const VERDICT = "verdict: ";

/** A failed verdict, or else the time to live, or else the other verdicts. */
function noteOf(state: UiState, { id, endsAt, status }: FaultRule): string {
  const verdicts = valuesOf<VerdictMessage>(state, "verdicts").filter(({ fault }) => fault === id);
  if (verdicts.some(({ verdict }) => verdict === "fail")) return `${VERDICT}fail`;
  if (status === "armed" && endsAt !== null) return `ttl ${countdown(secondsUntil(state, milliseconds(endsAt)))}`;
  if (verdicts.length === 0) return "";
  return verdicts.every(({ verdict }) => verdict === "pass") ? `${VERDICT}pass` : `${VERDICT}open`;
}
