// The pane of faults: which rules are armed, and what is left of each.

import type { RuleState } from "../../src/contracts/fault.ts";
import type { VerdictMessage } from "../../src/contracts/live-messages.ts";
import { faultDetail } from "../details/fault.ts";
import { count, countdown } from "../format-numbers.ts";
import { type Action, calls, just, listOf, type State } from "../state/state.ts";
import type { Tone } from "../terminal/style.ts";
import { momentOf, remainingOf } from "../time.ts";
import { curlOf, inPath } from "../wire/control-calls.ts";
import { pane } from "./pane.ts";

export const faults = pane<RuleState>({
  name: "faults",
  title: "Faults",
  id: ({ id }) => id,
  facts: ({ id, name, status, target, action }) => ({
    text: `${id} ${name ?? ""} ${action.type} ${status}`,
    fields: { id, name, status, target, action: action.type },
  }),
  asks: { call: { method: "GET", path: "/faults" }, values: (answer) => (answer as { data: RuleState[] }).data },
  mark(state) {
    const armed = listOf(state, "faults").rows.filter(({ value }) => isActive(value as RuleState)).length;
    return armed === 0 ? "" : `${count(armed)} ON`;
  },
  cells(rule, state, width) {
    const tones: Tone[] = isActive(rule) ? ["magenta"] : ["dim"];
    const isNarrow = width < 56;
    const aside = besides(state, rule);
    return [
      { text: isActive(rule) ? "*" : "", width: 1, tones },
      { text: wordsOf(rule), ends: true, tones: isActive(rule) ? [] : ["dim"] },
      { text: isNarrow ? leftOf(rule).replace(" of ", "/").replace(/ \(.*/, "") : leftOf(rule), width: isNarrow ? 8 : 14, tones },
      {
        text: isNarrow ? aside.replace("judged: ", "") : aside,
        width: isNarrow ? 8 : 12,
        tones: aside.endsWith("fail") ? ["red"] : ["dim"],
      },
    ];
  },
  empty: (state) => [
    "No faults: everything works.",
    "x arms one, and so does:",
    "",
    curlOf(state.target, { method: "POST", path: "/faults", body: { action: { type: "rate_limit", retryAfter: 2 } } }),
  ],
  detail: faultDetail,
  actions: (chosen) => [remove(chosen)],
});

const isActive = ({ status, enabled }: RuleState) => status === "armed" && enabled;

/** `429 on payments.list`, as far as the rule says it. */
function wordsOf({ name, action, match }: RuleState): string {
  if (name !== null) return name;
  const { type, status, as } = action as { type: string; status?: unknown; as?: unknown };
  const form = [status, as].filter((value) => value !== undefined && value !== null).join(" ");
  const { operation, event, merchant } = match as Record<string, unknown>;
  const place = [operation, event, merchant].filter((value) => value !== undefined).map(String);
  const what = type === "rate_limit" ? "429" : type.replaceAll("_", " ");
  return `${what}${form === "" ? "" : ` ${form}`}${place.length === 0 ? "" : ` on ${place.join(", ")}`}`;
}

function leftOf({ status, enabled, fired, remaining, trigger }: RuleState): string {
  if (!enabled) return "off";
  if (status === "spent") return `spent (${count(fired)})`;
  if (status !== "armed") return status;
  return remaining === null ? `fired ${count(fired)}` : `${count(remaining)} of ${count(Number(trigger.times))} left`;
}

/** How it was coped with, once that is known; until then how long it lives. */
function besides(state: State, { id, endsAt, status }: RuleState): string {
  const judged = listOf(state, "verdicts")
    .rows.map(({ value }) => value as VerdictMessage)
    .filter(({ fault }) => fault === id);
  if (judged.some(({ verdict }) => verdict === "fail")) return "judged: fail";
  if (status === "armed" && endsAt !== null) return `ttl ${countdown(remainingOf(state, momentOf(endsAt)))}`;
  if (judged.length === 0) return "";
  return judged.every(({ verdict }) => verdict === "pass") ? "judged: pass" : "judged: open";
}

function remove(chosen: (state: State) => RuleState | undefined): Action {
  return {
    keys: ["d"],
    label: "remove",
    words: "remove the fault rule",
    can: (state) => chosen(state) !== undefined,
    run(state) {
      const rule = chosen(state);
      if (!rule) return just(state);
      const call = { method: "DELETE", path: `/faults/${inPath(rule.id)}` } as const;
      return calls(state, call, () => `Removed ${rule.name ?? rule.id}, which fired ${count(rule.fired)} times`);
    },
  };
}
