// The dashboard's state as one immutable value, and functions that read from it.

import type {
  FinishedStep,
  Learner,
  Lesson,
  SandboxOverviewReply,
  SandboxTrendsReply,
} from "../../generated/control-api.ts";
import type { Call } from "../../src/client/curl.ts";
import type { HttpReply, HttpTarget } from "../../src/client/http-transport.ts";
import { type MadeCounts, NO_COUNTS } from "../../src/contracts/live-messages.ts";
import { parseTime } from "../../src/kernel/clock.ts";
import type { FieldError } from "../../src/kernel/errors.ts";
import type { JsonSchema } from "../connection/json-schema.ts";
import type { StreamConnection } from "../connection/live-stream.ts";
import type { TextStyle, Theme } from "../text/style.ts";
import type { AppState } from "./app.ts";
import { emptyList, type List } from "./list.ts";

export interface Size {
  columns: number;
  rows: number;
}

export interface UiState {
  readonly target: HttpTarget;
  readonly theme: Theme;
  readonly size: Size;
  /** Real milliseconds; countdowns use it. */
  readonly now: number;
  readonly connection: StreamConnection;
  readonly retryAt: number;
  readonly sandbox?: SandboxOverviewReply | undefined;
  /** When `sandbox.clock` was read, in real milliseconds. */
  readonly clockReadAt: number;
  readonly run?: string | undefined;
  /** The numbers of requests, attempts and verdicts since the sandbox's last reset. */
  readonly made: MadeCounts;
  readonly lastSeq: number;
  /** The counts of requests in recent digests, from which the request rate is computed. */
  readonly samples: readonly { at: number; requests: number }[];
  readonly pane: string;
  /** Whether this program started the sandbox and can leave it running in the background. */
  readonly canLeave?: boolean | undefined;
  /** Whether a browser shows the dashboard: one view at a time, and an explorer. */
  readonly isPage: boolean;
  readonly lists: Readonly<Record<string, List>>;
  /** The last one is on top and receives the keys. */
  readonly overlays: readonly Overlay[];
  readonly filterLine?: FilterLine | undefined;
  readonly filterHistory: readonly string[];
  /** `isNews`: something that happened without the user and did not fail. Screen readers do not announce it. */
  readonly notice?: { text: string; style: TextStyle; at: number; isNews?: true } | undefined;
  /** The last call a key made; `!` shows it as curl. */
  readonly lastCall?: Call | undefined;
  /** The text copied since the last call; `!` shows it. */
  readonly lastCopy?: string | undefined;
  /**
   * The latest changes, newest last. `call` undoes the change; undefined if it cannot be undone. `rearms`: the call
   * arms a fault again.
   */
  readonly undo: readonly { label: string; call: Call | undefined; rearms?: true | undefined }[];
  readonly lookups: CachedLookups;
  /** The endpoints that have listed deliveries but are deleted or disabled now: nothing can be replayed to them. */
  readonly closedEndpoints?: ReadonlySet<string> | undefined;
  /** The lesson of the learner at this dashboard. */
  readonly learning?: Learning | undefined;
  /** The user's app, if the process of the dashboard runs one. */
  readonly app?: AppState | undefined;
  readonly trends?: SandboxTrendsReply | undefined;
  /** The detail beside the lists on wide screens, and when it was opened. */
  readonly preview?: { readonly overlay: Overlay; readonly at: number } | undefined;
  /** The row and the detail that the opened address names, until they are shown. */
  readonly wanted?: { readonly row?: Reference; readonly open?: Reference } | undefined;
  /** The operation that the explorer shows, with its API, such as `service payments.list`. Default: the first. */
  readonly operation?: string | undefined;
  /** The first visible line of each text pane. */
  readonly scrolls: Readonly<Record<string, number>>;
}

/**
 * A learner's progress, as a poll or the stream sends it. Times are left out: polls and the stream write them
 * differently, and no view of a lesson shows them.
 */
export type LearnerView = Omit<Learner, "since" | "finishedSteps"> & {
  readonly finishedSteps: readonly Omit<FinishedStep, "at">[];
};

export interface Learning {
  /** The id of the learner. */
  readonly id: string;
  readonly learner?: LearnerView | undefined;
  /** The lesson last fetched. While the learner's new lesson loads, this is the earlier one. */
  readonly lesson?: Lesson | undefined;
  /** The number of the earlier step that is shown; undefined for the current one. */
  readonly reading?: number | undefined;
}

/** A text that is being typed. */
export interface TextEdit {
  value: string;
  /** How many characters follow the caret. */
  caretFromEnd: number;
  /** The whole value is selected: the next text replaces it. */
  isSelected: boolean;
}

/** The pane and the id by which a link or an address names a row. */
export interface Reference {
  pane: string;
  id: string;
}

export interface FilterLine extends TextEdit {
  /** The first visible line of the details when their search began; undefined for a filter of the rows. */
  searchesFrom?: number | undefined;
}

/** Replies that never change during a run, fetched once. */
export interface CachedLookups {
  readonly operations?: readonly string[];
  readonly eventTypes?: readonly string[];
  readonly rules?: readonly JsonSchema[];
}

export interface CallEffect<Reply = unknown> {
  kind: "call";
  call: Call<Reply>;
  /** Declared as a method, so that TypeScript accepts an effect with any type of reply as an `Effect`. */
  onReply(state: UiState, reply: HttpReply<Reply>): StateUpdate;
  /** Default: show the message as a notice. */
  onError?: (state: UiState, message: string, fields: readonly FieldError[]) => StateUpdate;
  /** The user did not ask for the call, so its result may be painted later. */
  isPoll?: true;
}

/** A file that a key writes: on the machine of the terminal, or as a download of the browser. */
export interface NewFile {
  /** A path, or the name of a download. */
  path: string;
  text: string;
  /** Whether a file with this path may be overwritten; a browser gives a second download another name. */
  overwrites: boolean;
}

/** A side effect, carried out by `run-effects.ts`. */
export type Effect =
  | CallEffect
  /** Writes a file. `onSaved` gets a text that says where. */
  | {
      kind: "save";
      file: NewFile;
      onSaved(state: UiState, place: string): StateUpdate;
      onError(state: UiState, message: string): StateUpdate;
    }
  | { kind: "copy"; text: string }
  /** Rings the terminal's bell: a key was refused. */
  | { kind: "bell" }
  /** Sends the filters to the stream, so that the digest includes matching rows. */
  | { kind: "subscribe" }
  | { kind: "refresh" }
  /** Opens the page at this address, or copies the address. */
  | { kind: "open"; url: string }
  | { kind: "repaint" }
  | { kind: "suspend" }
  | { kind: "restart" }
  | { kind: "plain" }
  | { kind: "quit" }
  /** Quits, and leaves the sandbox running in the background. */
  | { kind: "leave" }
  | { kind: "interrupt" };

export interface StateUpdate {
  state: UiState;
  effects: readonly Effect[];
}

export interface KeyBinding {
  keys: readonly string[];
  /** One or two words for the key bar; a binding without a label is listed in the help only. */
  label?: string | ((state: UiState) => string | undefined);
  help: string;
  /** Default: always. */
  isEnabled?(state: UiState): boolean;
  /** What a disabled key needs, as in "r needs a selected row". Default: something else on the screen. */
  needs?(state: UiState): string;
  run(state: UiState): StateUpdate;
}

export const labelIn = (state: UiState, { label }: Pick<KeyBinding, "label">): string | undefined =>
  typeof label === "function" ? label(state) : label;

/** A key that acts on the selected row, or on the row whose detail is open. Without a row, the key is disabled. */
export interface RowKey<Value> extends Omit<KeyBinding, "isEnabled" | "run" | "needs"> {
  isEnabled?(state: UiState, row: Value): boolean;
  /** What this key needs and the row lacks. */
  needs?: string;
  run(state: UiState, row: Value): StateUpdate;
}

export const boundTo = <Value>(key: RowKey<Value>, rowOf: (state: UiState) => Value | undefined): KeyBinding => ({
  ...key,
  isEnabled(state) {
    const row = rowOf(state);
    return row !== undefined && (key.isEnabled?.(state, row) ?? true);
  },
  needs: (state) => (rowOf(state) === undefined ? "a selected row" : (key.needs ?? "another row")),
  run(state) {
    const row = rowOf(state);
    return row === undefined ? { state, effects: [] } : key.run(state, row);
  },
});

export interface Overlay {
  readonly title: string;
  /** The first visible line. Default: 0. */
  readonly scroll?: number;
  /** Whether the overlay is drawn without a border at its sides. */
  readonly isBare?: boolean;
  lines(state: UiState, width: number): string[];
  /** Shown beside the title. Default: nothing. */
  note?(state: UiState, width: number): string;
  keys: readonly KeyBinding[];
  /** Handles a key before any binding does, for text input; undefined leaves the key to the bindings. */
  onKey?: ((state: UiState, key: string) => StateUpdate | undefined) | undefined;
}

/** The state before the first message of a sandbox; `given` has the values that are already known. */
export const initialState = (
  panes: readonly (Pick<List, "follows" | "fold"> & { name: string })[],
  given: Pick<UiState, "target" | "theme" | "size" | "now"> & Partial<UiState>,
): UiState => ({
  connection: { phase: "connecting" },
  retryAt: given.now,
  clockReadAt: given.now,
  made: NO_COUNTS,
  lastSeq: 0,
  samples: [],
  pane: panes[0]?.name ?? "",
  isPage: false,
  lists: Object.fromEntries(panes.map(({ name, follows, fold }) => [name, emptyList(follows, fold)])),
  overlays: [],
  filterHistory: [],
  undo: [],
  lookups: {},
  scrolls: {},
  ...given,
});

export const listOf = (state: UiState, pane = state.pane): List => state.lists[pane] ?? emptyList(true);

/** The values of a pane's rows; `Value` is the type that the pane declares. */
export const valuesOf = <Value>(state: UiState, pane: string): Value[] =>
  listOf(state, pane).rows.flatMap(({ value, gap }) => (gap ? [] : [value as Value]));

/** The listed version of a value, which is the newest one; undefined once the list has dropped it. */
export const listed = <Value extends { id: string }>(state: UiState, pane: string, { id }: Value) =>
  valuesOf<Value>(state, pane).findLast((one) => one.id === id);

/** Sandbox time now, in milliseconds: the time last read, plus the real time since then unless the clock is frozen. */
export function sandboxNow({ sandbox, clockReadAt, now }: UiState): number {
  const clock = sandbox?.clock;
  if (!clock) return now;
  const time = parseTime(clock.now) ?? now;
  return clock.mode === "frozen" ? time : time + (now - clockReadAt);
}

/** Whole seconds until a sandbox time, in milliseconds; 0 once it has passed. */
export const secondsUntil = (state: UiState, time: number) =>
  Math.max(0, Math.ceil((time - sandboxNow(state)) / 1_000));

/** A merchant's id without the prefix that all of them share. */
export const shortMerchant = (id: string | null) => (id ?? "-").replace(/^mer_/, "");

export const apiKeysOf = ({ sandbox }: UiState, merchant: string | null): readonly string[] =>
  sandbox?.merchants.find(({ id }) => id === merchant)?.apiKeys ?? [];
