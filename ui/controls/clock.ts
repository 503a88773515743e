// The key of the clock: play a span of time, stop it, set it, let it run.

import type { ClockMessage } from "../../src/contracts/live-messages.ts";
import { isoTime, parseTime } from "../../src/kernel/clock.ts";
import { tryParseDuration } from "../../src/kernel/duration.ts";
import type { Field, Values } from "../overlays/field.ts";
import { type Form, openForm } from "../overlays/form.ts";
import { type Action, type State, sandboxNow } from "../state/state.ts";
import type { Answer, Call } from "../wire/control-calls.ts";

const ADVANCE = "advance ";
const OTHER = "by";

const WAYS = [
  ...["1m", "1h", "24h"].map((span) => ({ value: ADVANCE + span, words: "play it: everything that is due in it happens, in order" })),
  { value: ADVANCE + OTHER, label: "advance by …", words: "play another span" },
  { value: "frozen", label: "freeze", words: "the clock stands, here or at a time of your choice" },
  { value: "offset", label: "set and run", words: "the clock runs on from a time of your choice" },
  { value: "real", label: "real", words: "the clock runs with the machine" },
] as const;

const span: Field = {
  name: "by",
  label: "by",
  words: "How far, such as 30s, 5m or 7d",
  problem: (text) => (tryParseDuration(text) === undefined ? "must be a span such as 30s, 5m or 24h" : undefined),
};

const time: Field = {
  name: "now",
  label: "now",
  words: "A time such as 2026-01-05T09:00:00Z; the present sandbox time unless given",
  problem: (text) => (text !== "" && parseTime(text) === undefined ? "must be a time such as 2026-01-05T09:00:00Z" : undefined),
};

const form: Form = {
  title: "The sandbox's clock",
  fields(values) {
    const way: Field = { name: "do", label: "do", words: "What happens to the time", options: WAYS };
    const chosen = values.do ?? WAYS[0].value;
    if (chosen === ADVANCE + OTHER) return [way, span];
    return chosen === "frozen" || chosen === "offset" ? [way, time] : [way];
  },
  call: clockCall,
  done(answer, held, { state }) {
    const mode = state.sandbox?.clock.mode;
    return { words: wordsOf(answer, held), ...(mode && { undo: settingBack(mode, isoTime(sandboxNow(state))) }) };
  },
};

function clockCall({ do: way = "", by = "", now = "" }: Values): Call {
  if (way.startsWith(ADVANCE)) {
    const given = way.slice(ADVANCE.length);
    return { method: "POST", path: "/clock/advance", body: { by: given === OTHER ? by : given } };
  }
  return { method: "PUT", path: "/clock", body: { mode: way, ...(now !== "" && { now }) } };
}

function wordsOf({ body }: Answer, { do: way = "" }: Values): string {
  const { now, mode, attempts } = body as ClockMessage & { attempts?: unknown[] };
  return way.startsWith(ADVANCE)
    ? `It is ${now}; delivery attempts on the way: ${attempts?.length}`
    : `It is ${now}, and the clock is ${mode}`;
}

/** Where the clock stood; what happened meanwhile stays. */
const settingBack = (mode: ClockMessage["mode"], now: string): Call => ({
  method: "PUT",
  path: "/clock",
  body: mode === "real" ? { mode } : { mode, now },
});

export const clockKeys: readonly Action[] = [
  { keys: ["c"], label: "clock", words: "advance, freeze or set the sandbox's clock", run: (state: State) => openForm(state, form) },
];
