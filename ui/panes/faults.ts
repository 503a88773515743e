// The pane of fault rules: how often each may still fire, and the verdicts on the clients that it affected.

import type { FaultRule } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import type { VerdictMessage } from "../../src/contracts/verdict.ts";
import { secondsUntil, type UiState, valuesOf } from "../state/state.ts";
import { count, countdown, countNote, milliseconds, plural } from "../text/format.ts";
import type { TextStyle } from "../text/style.ts";
import { endRule } from "./controls/faults.ts";
import { armedRules, faultDetail, isArmed, ruleTitle, statusName } from "./details/fault.ts";
import { listPane, programCommand } from "./pane.ts";

export const faults = listPane<FaultRule>({
  name: "faults",
  title: "Faults",
  rowId: ({ id }) => id,
  filterBy: ({ id, name, status, target, action, match }) => ({
    text: `${id} ${name ?? ""} ${action.type} ${status} ${statusName(status)}`,
    fields: { id, name, status, target, action: String(action.type), merchant: String(match.merchant ?? "*") },
  }),
  // Declared here, so that `m` can set a merchant filter while the list is empty.
  vocabulary: { fields: ["id", "name", "status", "target", "action", "merchant"], marks: [] },
  poll: controlCalls.faults.list(),
  titleNote: (state) => countNote(armedRules(state).length, "armed"),
  alarm(state) {
    const armed = armedRules(state).length;
    return armed === 0 ? "" : `*${count(armed)}`;
  },
  columns(shown, state) {
    // A removed rule that is still selected must not show a countdown.
    const rules = valuesOf<FaultRule>(state, "faults");
    const isListed = rules.some(({ id }) => id === shown.id);
    const rule = isListed ? shown : { ...shown, status: "removed" as const };
    const styles: TextStyle[] = isArmed(rule) ? ["magenta"] : ["dim"];
    const verdict = verdictOf(state, rule.id);
    const status = rule.enabled ? statusName(rule.status) : "disabled";
    return [
      { text: isArmed(rule) ? "*" : "", width: 1, styles },
      {
        heading: "fault",
        text: ruleTitle(rule),
        claim: 22,
        rank: 1,
        grows: true,
        styles: isArmed(rule) ? [] : ["dim"],
      },
      { heading: "left", text: leftText(rule), rank: 3, align: "right" },
      { heading: "state", text: endText(state, rule) || status, rank: 2, align: "right", styles },
      { heading: "fired", text: count(rule.fired), rank: 5, align: "right", styles: ["dim"] },
      { heading: "verdict", text: verdict, rank: 4, styles: verdict === "fail" ? ["failure"] : ["dim"] },
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
      run: (state, rule) =>
        endRule(state, rule, ({ id, name, fired }) => `Removed ${name ?? id}; it fired ${plural(fired, "time")}`),
    },
  ],
});

function leftText({ remaining, status, trigger }: FaultRule): string {
  if (remaining === null || status !== "armed") return "";
  return `${count(remaining)}/${count(Number(trigger.times))}`;
}

const endText = (state: UiState, { endsAt, status }: FaultRule) =>
  status === "armed" && endsAt !== null ? `ends in ${countdown(secondsUntil(state, milliseconds(endsAt)))}` : "";

/** The verdict on the clients that a rule hit: `open` if none failed and some did not pass; empty without verdicts. */
function verdictOf(state: UiState, rule: string): string {
  const verdicts = valuesOf<VerdictMessage>(state, "verdicts").filter(({ fault }) => fault === rule);
  if (verdicts.length === 0) return "";
  if (verdicts.some(({ verdict }) => verdict === "fail")) return "fail";
  return verdicts.every(({ verdict }) => verdict === "pass") ? "pass" : "open";
}
