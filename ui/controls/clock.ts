// The clock key: advance, freeze or set the sandbox clock.

import type { Clock, ClockAdvanceReply, ClockSetInput, FaultRule } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import type { AttemptMessage } from "../../src/contracts/live-messages.ts";
import { isoTime, parseTime } from "../../src/kernel/clock.ts";
import { tryParseDuration } from "../../src/kernel/duration.ts";
import type { Call } from "../connection/calls.ts";
import { laterAttempts } from "../details/row-lines.ts";
import type { FieldOption, FormField, FormValues } from "../overlays/field.ts";
import { type Form, openForm, type Submission, submission } from "../overlays/form.ts";
import { type KeyBinding, sandboxNow, type UiState, valuesOf } from "../state/state.ts";
import { counted, milliseconds } from "../view/format.ts";

const ADVANCE = "advance ";
const OTHER_DURATION = "by";

const spans = ["1m", "1h", "24h"] as const;

const optionsOf = (state: UiState): readonly FieldOption[] => [
  ...spans.map((by) => ({ value: ADVANCE + by, help: helpOf(dueText(state, tryParseDuration(by) ?? 0)) })),
  { value: ADVANCE + OTHER_DURATION, label: "advance by …", help: "advance by another duration" },
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
  const retries = attempts.filter(
    (one) => one.nextAttemptAt !== null && one.nextAttemptAt * 1_000 <= until && later(one) !== "attempt",
  ).length;
  const faults = valuesOf<FaultRule>(state, "faults").filter(
    ({ endsAt, status }) => endsAt !== null && milliseconds(endsAt) <= until && status === "armed",
  ).length;
  if (retries + faults === 0) return "";
  return [
    ...(retries === 0 ? [] : [counted(retries, "webhook attempt")]),
    ...(faults === 0 ? [] : [faults === 1 ? "1 fault ends" : `${faults} faults end`]),
    ...(state.sandbox?.life === "off" ? [] : ["any record changes"]),
  ].join(", ");
}

const durationField: FormField = {
  name: "by",
  label: "by",
  help: "Duration, such as 30s, 5m or 7d",
  validate: (text) => (tryParseDuration(text) === undefined ? "must be a duration such as 30s, 5m or 24h" : undefined),
};

const timeField: FormField = {
  name: "now",
  label: "now",
  help: "Time, such as 2026-01-05T09:00:00Z (default: the current sandbox time)",
  validate: (text) => (text !== "" && parseTime(text) === undefined ? "must be a time such as 2026-01-05T09:00:00Z" : undefined),
};

const form: Form = {
  title: "Sandbox clock",
  fields(values, { state }) {
    const actionField: FormField = { name: "do", label: "action", help: "How to change the clock", options: optionsOf(state) };
    const action = values.do ?? ADVANCE + spans[0];
    if (action === ADVANCE + OTHER_DURATION) return [actionField, durationField];
    return action === "frozen" || action === "offset" ? [actionField, timeField] : [actionField];
  },
  submission: (values, { state }) => clockSubmission(values, state),
};

function clockSubmission({ do: action = "", by = "", now = "" }: FormValues, state: UiState): Submission {
  const mode = state.sandbox?.clock.mode;
  const undo = mode && { undo: restoreClock(mode, isoTime(sandboxNow(state))) };
  if (!action.startsWith(ADVANCE)) {
    const call = controlCalls.clock.set({ mode: action as ClockSetInput["mode"], ...(now !== "" && { now }) });
    return submission(call, (clock) => ({ message: `Clock set to ${clock.now} (${clock.mode})`, ...undo }));
  }
  const duration = action.slice(ADVANCE.length);
  return submission(controlCalls.clock.advance({ by: duration === OTHER_DURATION ? by : duration }), (clock) => ({
    message: advancedText(clock),
    ...undo,
  }));
}

const advancedText = ({ now, happened, omitted, attempts }: ClockAdvanceReply) =>
  `Clock advanced to ${now}; ${counted(happened.length + omitted, "change")} and ${counted(attempts.length, "delivery attempt")} on the way`;

/** Sets the clock back, without undoing the events in between. */
const restoreClock = (mode: Clock["mode"], now: string): Call => controlCalls.clock.set(mode === "real" ? { mode } : { mode, now });

export const clockKey: KeyBinding = {
  keys: ["c"],
  label: "clock",
  help: "advance, freeze or set the sandbox clock",
  run: (state) => openForm(state, form),
};
