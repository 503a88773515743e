// A dashboard without a terminal: keys go in, calls are made for real when a test says so, frames come out as text.

import { createFrames, type Frames } from "../../ui/frame-renderer.ts";
import { panes } from "../../ui/panes/index.ts";
import { heardIndex, heardRows } from "../../ui/state/apply-message.ts";
import { pressed } from "../../ui/state/key-routing.ts";
import { beginning, type Effect, type SandboxIndex, type State, type Step } from "../../ui/state/state.ts";
import { type Call, perform, Refusal } from "../../ui/wire/control-calls.ts";
import { afterEachFile } from "./cleanup.ts";

export interface Desk {
  state: State;
  /** What was put on the clipboard, newest last. */
  copied: string[];
  /** Presses keys by name; the calls that they make wait for `settle`. */
  press(...keys: string[]): void;
  /** The calls that wait to be made. */
  waiting(): Call[];
  /** Makes every call that waits, and those that follow from them. */
  settle(): Promise<void>;
  /** What is on the screen, line by line, without colours. */
  screen(columns?: number, rows?: number): string[];
}

export const PLAIN = { colours: false, unicode: true };

let frames: Frames | undefined;

afterEachFile.push(() => {
  frames?.close();
  frames = undefined;
});

/** A dashboard that has looked at the sandbox once. */
export async function seat(url: string, columns = 120, rows = 36): Promise<Desk> {
  const target = { url, token: undefined };
  const first = beginning({ target, look: PLAIN, size: { columns, rows }, now: 0, panes });
  let queue: Effect[] = [{ kind: "refresh" }];
  const take = ({ state, effects }: Step) => {
    desk.state = state;
    queue.push(...effects);
  };
  const look = async () => {
    const { body } = await perform(target, { method: "GET", path: "" });
    desk.state = heardIndex(desk.state, body as SandboxIndex);
    for (const { name, asks } of panes)
      if (asks) desk.state = heardRows(desk.state, name, asks.rows((await perform(target, asks.call)).body));
  };
  const act = async (effect: Effect) => {
    if (effect.kind === "refresh") await look();
    else if (effect.kind === "copy") desk.copied.push(effect.text);
    else if (effect.kind === "call")
      await perform(target, effect.call).then(
        (answer) => take(effect.done(desk.state, answer)),
        (error: Error) => {
          if (!effect.failed) throw error;
          take(effect.failed(desk.state, error.message, error instanceof Refusal ? error.fields : []));
        },
      );
  };
  const desk: Desk = {
    state: { ...first, link: { phase: "live" } },
    copied: [],
    press(...keys) {
      for (const key of keys) take(pressed(desk.state, key));
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
      frames ??= createFrames();
      return frames.of(desk.state).map(bare);
    },
  };
  await desk.settle();
  queue = [];
  return desk;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: tones begin with one.
const bare = (line: string) => line.replace(/\x1b\[[0-9;]*m/g, "");

/** Text as the keys that write it. */
export const typing = (text: string): string[] => [...text].map((letter) => (letter === " " ? "space" : letter));
