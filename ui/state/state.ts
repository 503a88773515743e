// Everything that the dashboard knows, and what a key or a message makes of it: values only, changed by plain functions.

import type { LearnerView, Lesson } from "../../src/contracts/lesson.ts";
import type { ClockMessage, Totals } from "../../src/contracts/live-messages.ts";
import { parseTime } from "../../src/kernel/clock.ts";
import type { Look, Tone } from "../terminal/style.ts";
import type { Answer, Call, FieldError, Target } from "../wire/control-calls.ts";
import type { Shape } from "../wire/json-schema.ts";
import type { Link } from "../wire/live.ts";
import { emptyList, type List } from "./list.ts";

export interface Size {
  columns: number;
  rows: number;
}

/** The sandbox as `GET /_sandbox` shows it. */
export interface SandboxIndex {
  version: string;
  baseUrl: string;
  clock: ClockMessage;
  database: string | null;
  pendingDeliveries: number;
  merchants: { id: string; name: string | null; apiKeys: string[] }[];
}

export interface Notice {
  text: string;
  tone: Tone;
}

/** Who learns: one person at this dashboard, whose lesson is shown, or a room, whose board is. */
export type Course = OwnCourse | { readonly kind: "room" /** Where attendees join. */; readonly url: string };

export interface OwnCourse {
  readonly kind: "own";
  /** The merchant that the lesson is learnt with. */
  readonly id: string;
  /** As it was heard last. */
  readonly learner?: LearnerView | undefined;
  /** With commands that are ready to be run; of another name than the learner's until it is fetched. */
  readonly lesson?: Lesson | undefined;
}

export interface State {
  readonly target: Target;
  readonly look: Look;
  readonly size: Size;
  /** Real milliseconds: what countdowns are counted by. */
  readonly now: number;
  readonly link: Link;
  /** When the next try to connect is due. */
  readonly retryAt: number;
  readonly sandbox: SandboxIndex | undefined;
  /** When `sandbox.clock` was told, in real milliseconds. */
  readonly clockHeardAt: number;
  /** Which run of the sandbox it is that is shown. */
  readonly run: string | undefined;
  readonly totals: Totals;
  /** The number of the newest item that was taken in. */
  readonly seen: number;
  /** What the counts stood at lately: the rate is read off them. */
  readonly samples: readonly { at: number; requests: number }[];
  readonly pane: string;
  readonly lists: Readonly<Record<string, List>>;
  /** What lies over the panes; the last one has the keys. */
  readonly overlays: readonly Overlay[];
  /** The filter of the pane is being written. */
  readonly typing: boolean;
  readonly notice: Notice | undefined;
  readonly lastCall: Call | undefined;
  /** What `u` takes back, newest last. */
  readonly undo: readonly { what: string; call: Call }[];
  /** What was asked of the sandbox once and does not change. */
  readonly known: Known;
  /** Undefined where nobody learns. */
  readonly course: Course | undefined;
  /** The first line that is shown of panes that are read. */
  readonly scrolls: Readonly<Record<string, number>>;
}

export interface Known {
  readonly operations?: readonly string[];
  readonly eventTypes?: readonly string[];
  /** What a rule of each action may say. */
  readonly rules?: readonly Shape[];
}

/** Something that the world outside is to do. */
export type Effect =
  | {
      kind: "call";
      call: Call;
      done: (state: State, answer: Answer) => Step;
      failed?: (state: State, message: string, fields: readonly FieldError[]) => Step;
    }
  | { kind: "copy"; text: string }
  | { kind: "wish" }
  | { kind: "refresh" }
  | { kind: "repaint" }
  | { kind: "suspend" }
  | { kind: "plain" }
  | { kind: "quit" }
  | { kind: "interrupt" };

export interface Step {
  state: State;
  effects: readonly Effect[];
}

/** Something that a key does. */
export interface Action {
  keys: readonly string[];
  /** One or two words, for the key bar; none where it does not stand there. */
  label?: string;
  /** What it does, for the help. */
  words: string;
  can?(state: State): boolean;
  run(state: State): Step;
}

/** Something that lies over the panes. */
export interface Overlay {
  readonly title: string;
  /** The first line that is shown. */
  readonly scroll: number;
  /** A line that must be seen. */
  readonly focus?: number;
  lines(state: State, width: number): string[];
  actions: readonly Action[];
  /** Takes the keys that write text, before any action does. */
  type?(state: State, key: string): Step | undefined;
}

export const just = (state: State): Step => ({ state, effects: [] });
export const also = (state: State, ...effects: Effect[]): Step => ({ state, effects });

export interface Beginning {
  target: Target;
  look: Look;
  size: Size;
  now: number;
  /** The panes by name, and whether each follows what is new. */
  panes: readonly { name: string; follows: boolean }[];
  course?: Course | undefined;
  /** The pane that has the keys at first; the first one unless given. */
  pane?: string | undefined;
}

export const NOTHING_YET: Totals = { request: 0, attempt: 0, verdict: 0, fault: 0, clock: 0, lesson: 0, reset: 0 };

export const beginning = ({ target, look, size, now, panes, course, pane }: Beginning): State => ({
  target,
  look,
  size,
  now,
  link: { phase: "connecting" },
  retryAt: now,
  sandbox: undefined,
  clockHeardAt: now,
  run: undefined,
  totals: NOTHING_YET,
  seen: 0,
  samples: [],
  pane: pane ?? panes[0]?.name ?? "",
  lists: Object.fromEntries(panes.map(({ name, follows }) => [name, emptyList(follows)])),
  overlays: [],
  typing: false,
  notice: undefined,
  lastCall: undefined,
  undo: [],
  known: {},
  course,
  scrolls: {},
});

export const listOf = (state: State, pane = state.pane): List => state.lists[pane] ?? emptyList(true);

export const withList = (state: State, pane: string, list: List): State => ({ ...state, lists: { ...state.lists, [pane]: list } });

export const say = (state: State, text: string, tone: Tone = "green"): State => ({ ...state, notice: { text, tone } });

export const overlayOf = (state: State): Overlay | undefined => state.overlays.at(-1);
export const laid = (state: State, overlay: Overlay): State => ({ ...state, overlays: [...state.overlays, overlay] });
export const relaid = (state: State, overlay: Overlay): State => ({ ...state, overlays: [...state.overlays.slice(0, -1), overlay] });
export const lifted = (state: State): State => ({ ...state, overlays: state.overlays.slice(0, -1) });

/** Makes a call that a key stands for, remembers it for `!`, and says how it went. */
export function calls(
  state: State,
  call: Call,
  words: (answer: Answer) => string,
  after: (state: State, answer: Answer) => State = (same) => same,
): Step {
  const done = (later: State, answer: Answer) => also(say(after(later, answer), words(answer)), { kind: "refresh" });
  return also({ ...say(state, `${call.method} ${call.path} …`, "dim"), lastCall: call }, { kind: "call", call, done });
}

/** Sandbox time now, in milliseconds; the clock runs on between two looks at it. */
export function sandboxNow({ sandbox, clockHeardAt, now }: State): number {
  const clock = sandbox?.clock;
  if (!clock) return now;
  const told = parseTime(clock.now) ?? now;
  return clock.mode === "frozen" ? told : told + (now - clockHeardAt);
}

/** A merchant without what every merchant's id begins with. */
export const shortMerchant = (id: string | null) => (id ?? "-").replace(/^mer_/, "");
