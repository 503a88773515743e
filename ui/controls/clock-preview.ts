// The retries and the ends of faults that fall due before a moment of the sandbox's clock, as far as the rows at hand tell.

import type { FaultRule } from "../../generated/control-api.ts";
import type { AttemptMessage } from "../../src/contracts/live-messages.ts";
import type { Reference } from "../details/detail-lines.ts";
import { laterAttempts } from "../details/row-lines.ts";
import { ruleTitle } from "../details/rule-text.ts";
import { sandboxNow, type UiState, valuesOf } from "../state/state.ts";
import { counted, milliseconds } from "../view/format.ts";

export interface DueMoment {
  /** Sandbox milliseconds. */
  at: number;
  label: string;
  opens: Reference;
}

/** In order. Changes of records are not among them: the sandbox decides them when their time comes. */
export function dueMoments(state: UiState): DueMoment[] {
  return [...dueRetries(state), ...endingFaults(state)].sort((one, other) => one.at - other.at);
}

function dueRetries(state: UiState): DueMoment[] {
  const attempts = valuesOf<AttemptMessage>(state, "deliveries");
  const later = laterAttempts(attempts);
  return attempts.flatMap((one) => {
    const { id, eventType, attempt, maxAttempts, nextAttemptAt } = one;
    if (nextAttemptAt === null || later(one) === "attempt") return [];
    const label = `attempt ${attempt + 1}/${maxAttempts} of ${eventType}`;
    return [{ at: nextAttemptAt * 1_000, label, opens: { pane: "deliveries", id } }];
  });
}

const endingFaults = (state: UiState): DueMoment[] =>
  valuesOf<FaultRule>(state, "faults").flatMap((rule) => {
    if (rule.endsAt === null || rule.status !== "armed") return [];
    return [{ at: milliseconds(rule.endsAt), label: `the fault ${ruleTitle(rule)} ends`, opens: { pane: "faults", id: rule.id } }];
  });

/** `2 webhook attempts, 1 fault ends, any record changes` until so many milliseconds from now; empty if nothing is known to be due. */
export function dueText(state: UiState, span: number): string {
  const due = dueMoments(state).filter(({ at }) => at <= sandboxNow(state) + span);
  const retries = due.filter(({ opens }) => opens.pane === "deliveries").length;
  const faults = due.length - retries;
  if (due.length === 0) return "";
  return [
    ...(retries === 0 ? [] : [counted(retries, "webhook attempt")]),
    ...(faults === 0 ? [] : [faults === 1 ? "1 fault ends" : `${faults} faults end`]),
    ...(state.sandbox?.life === "off" ? [] : ["any record changes"]),
  ].join(", ");
}
