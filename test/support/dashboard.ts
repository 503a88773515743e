// A dashboard without a terminal: tests press keys, read frames as text and decide when calls are made.

import { controlCalls } from "../../src/client/control-call.ts";
import type { Call } from "../../src/client/curl.ts";
import type { LiveEvent } from "../../src/contracts/live-messages.ts";
import { RefusedCall } from "../../ui/connection/calls.ts";
import { applyPolledRows, applySandboxIndex } from "../../ui/panes/apply-message.ts";
import { fetchLookups } from "../../ui/panes/controls/form-fields.ts";
import { attemptRow } from "../../ui/panes/details/delivery.ts";
import { requestRow } from "../../ui/panes/details/request.ts";
import { panes } from "../../ui/panes/index.ts";
import { handleKey } from "../../ui/panes/keys/key-bindings.ts";
import { type Effect, initialState, type StateUpdate, type UiState } from "../../ui/state/state.ts";
import { createFrameRenderer, type FrameRenderer } from "../../ui/terminal/frame.tsx";
import { perform, save } from "../../ui/terminal/platform.ts";
import { stripStyles } from "../../ui/text/style.ts";
import { afterEachFile } from "./cleanup.ts";
import { type Bench, open } from "./sandbox.ts";

export interface TestDashboard {
  state: UiState;
  /** Texts copied to the clipboard, newest last. */
  copied: string[];
  /** How often the bell rang. */
  rings(): number;
  /** Presses keys. The resulting calls wait for `settle`. */
  press(...keys: string[]): void;
  /** Presses keys, and makes the calls that result from them. */
  run(...keys: string[]): Promise<void>;
  /** Applies an update, and makes its calls. */
  apply(next: StateUpdate): Promise<void>;
  /** Pending calls. */
  waiting(): Call[];
  /** Makes every pending call, and the calls that result from them. */
  settle(): Promise<void>;
  /** Screen lines without styles. */
  screen(columns?: number, rows?: number): string[];
}

export const PLAIN = { colours: false, unicode: true };

let frames: FrameRenderer | undefined;

/** The lines of the screen as they are written to the terminal. */
export function renderLines(state: UiState): string[] {
  frames ??= createFrameRenderer();
  return frames.render(state);
}

/** The lines of the screen without styles. */
export const screenOf = (state: UiState): string[] => renderLines(state).map(stripStyles);

export const screenText = (state: UiState): string => screenOf(state).join("\n");

afterEachFile.push(() => {
  frames?.close();
  frames = undefined;
});

/** A dashboard that has polled the sandbox once, and has fetched its lookups. */
export async function openTestDashboard(url: string, columns = 120, rows = 36): Promise<TestDashboard> {
  const target = { url, token: undefined };
  const first = initialState(panes, { target, theme: PLAIN, size: { columns, rows }, now: 0 });
  let bells = 0;
  let queue: Effect[] = [{ kind: "refresh" }, ...fetchLookups(first)];
  const take = ({ state, effects }: StateUpdate) => {
    desk.state = state;
    bells += effects.filter(({ kind }) => kind === "bell").length;
    queue.push(...effects);
  };
  const look = async () => {
    desk.state = applySandboxIndex(desk.state, (await perform(target, controlCalls.overview())).body);
    for (const { name, poll } of panes)
      if (poll) desk.state = applyPolledRows(desk.state, name, poll.read((await perform(target, poll.call)).body));
  };
  const act = async (effect: Effect) => {
    if (effect.kind === "refresh") await look();
    else if (effect.kind === "copy") desk.copied.push(effect.text);
    else if (effect.kind === "save")
      await save(effect.file).then(
        (place) => take(effect.onSaved(desk.state, place)),
        ({ message }: Error) => take(effect.onError(desk.state, message)),
      );
    else if (effect.kind === "call")
      await perform(target, effect.call).then(
        (answer) => take(effect.onReply(desk.state, answer)),
        (error: Error) => {
          if (!effect.onError) throw error;
          take(effect.onError(desk.state, error.message, error instanceof RefusedCall ? error.fields : []));
        },
      );
  };
  const desk: TestDashboard = {
    state: { ...first, connection: { phase: "live" } },
    copied: [],
    rings: () => bells,
    press(...keys) {
      for (const key of keys) take(handleKey(desk.state, key));
    },
    async run(...keys) {
      desk.press(...keys);
      await desk.settle();
    },
    async apply(next) {
      take(next);
      await desk.settle();
    },
    waiting: () => queue.flatMap((effect) => (effect.kind === "call" ? [effect.call] : [])),
    async settle() {
      for (;;) {
        const effect = queue.shift();
        if (!effect) return;
        await act(effect);
      }
    },
    screen(width = columns, height = rows) {
      desk.state = { ...desk.state, size: { columns: width, rows: height } };
      return screenOf(desk.state);
    },
  };
  await desk.settle();
  queue = [];
  return desk;
}

/** A new sandbox, and a dashboard that shows it. */
export async function openSandboxDashboard(columns?: number, rows?: number) {
  const bench = await open();
  return { bench, desk: await openTestDashboard(bench.url, columns, rows) };
}

/** The requests in the sandbox's log, as events of the live stream. */
export async function loggedRequests(bench: Bench): Promise<LiveEvent[]> {
  const { data } = await bench.control("GET", "/requests?limit=100");
  return data
    .toReversed()
    .map((one: Parameters<typeof requestRow>[0]) => ({ kind: "request", request: requestRow(one) }));
}

/** The attempts in the sandbox's log, as events of the live stream. */
export async function loggedAttempts(bench: Bench): Promise<LiveEvent[]> {
  const { data } = await bench.control("GET", "/deliveries?limit=100");
  return data
    .toReversed()
    .map((one: Parameters<typeof attemptRow>[0]) => ({ kind: "attempt", attempt: attemptRow(one) }));
}

/** The keys that type a text. */
export const typing = (text: string): string[] => [...text].map((letter) => (letter === " " ? "space" : letter));
