// The clock key: advance, freeze or set the sandbox clock.

import type { Clock, ClockAdvanceReply, ClockSetInput, FaultRule } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import type { AttemptMessage } from "../../src/contracts/live-messages.ts";
import { isoTime } from "../../src/kernel/clock.ts";
import { tryParseDuration } from "../../src/kernel/duration.ts";
import { laterAttempts } from "../details/row-lines.ts";
import type { FieldOption, FormField, FormValues } from "../overlays/field.ts";
import { type Form, openForm, type Submission, submission } from "../overlays/form.ts";
import { type KeyBinding, sandboxNow, type UiState, valuesOf } from "../state/state.ts";
import { counted, milliseconds } from "../view/format.ts";
import { filledIn } from "./form-fields.ts";

const ADVANCE = "advance ";
const OTHER_DURATION = `${ADVANCE}by`;

const optionsOf = (state: UiState): readonly FieldOption[] => [
  ...["1m", "1h", "24h"].map((by) => ({ value: ADVANCE + by, help: helpOf(dueText(state, tryParseDuration(by) ?? 0)) })),
  { value: OTHER_DURATION, label: "advance by …", help: "advance by another duration" },
  { value: "frozen", label: "freeze", help: "stop the clock, now or at a given time" },
  { value: "offset", label: "set and run", help: "run from a given time" },
  { value: "real", label: "real", help: "follow the machine's clock" },
];

const helpOf = (due: string) => `run everything that falls due, in order${due === "" ? "" : `: ${due}`}`;

/** What is known to be due within so many milliseconds, such as `2 webhook attempts, 1 fault ends, any record changes`; empty for nothing. */
function dueText(state: UiState, span: number): string {
  const until = sandboxNow(state) + span;
  const attempts = valuesOf<AttemptMessage>(state, "deliveries");
  const later = laterAttempts(attempts);
  const retries = attempts.filter((one) => one.nextAttemptAt !== null && one.nextAttemptAt * 1_000 <= until && later(one) !== "attempt");
  const faults = valuesOf<FaultRule>(state, "faults").filter(
    ({ endsAt, status }) => endsAt !== null && milliseconds(endsAt) <= until && status === "armed",
  );
  if (retries.length + faults.length === 0) return "";
  return [
    ...(retries.length === 0 ? [] : [counted(retries.length, "webhook attempt")]),
    ...(faults.length === 0 ? [] : [faults.length === 1 ? "1 fault ends" : `${faults.length} faults end`]),
    ...(state.sandbox?.life === "off" ? [] : ["any record changes"]),
  ].join(", ");
}

const form: Form = {
  title: "Sandbox clock",
  fields({ do: action }, { state }) {
    const more: Record<string, FormField> = {
      [OTHER_DURATION]: { name: "by", help: "Duration, such as 30s, 5m or 7d" },
      frozen: timeField,
      offset: timeField,
    };
    return [
      { name: "do", label: "action", help: "How to change the clock", options: optionsOf(state) },
      ...[more[action ?? ""] ?? []].flat(),
    ];
  },
  submission: (values, { state }) => clockSubmission(values, state),
};

const timeField = { name: "now", help: "Time, such as 2026-01-05T09:00:00Z (default: the current sandbox time)" };

function clockSubmission({ do: action = "", by = "", now = "" }: FormValues, state: UiState): Submission {
  const mode = state.sandbox?.clock.mode;
  const undo = mode && { undo: restoreClock(mode, isoTime(sandboxNow(state))) };
  if (!action.startsWith(ADVANCE)) {
    const call = controlCalls.clock.set({ mode: action as ClockSetInput["mode"], ...filledIn({ now }) });
    return submission(call, (clock) => ({ message: `Clock set to ${clock.now} (${clock.mode})`, ...undo }));
  }
  const call = controlCalls.clock.advance({ by: action === OTHER_DURATION ? by : action.slice(ADVANCE.length) });
  return submission(call, (clock) => ({ message: advancedText(clock), ...undo }));
}

const advancedText = ({ now, happened, omitted, attempts }: ClockAdvanceReply) =>
  `Clock advanced to ${now}; ${counted(happened.length + omitted, "change")} and ${counted(attempts.length, "delivery attempt")} on the way`;

/** Sets the clock back, without undoing the events in between. */
const restoreClock = (mode: Clock["mode"], now: string) => controlCalls.clock.set(mode === "real" ? { mode } : { mode, now });

export const clockKey: KeyBinding = {
  keys: ["c"],
  label: "clock",
  help: "advance, freeze or set the sandbox clock",
  run: (state) => openForm(state, form),
};
