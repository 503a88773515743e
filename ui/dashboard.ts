// Opens the dashboard: hears the sandbox and the keys, and paints what came of it.

import { realNow } from "../src/kernel/clock.ts";
import { type Leaving, type Running, refresh, take } from "./effects.ts";
import { createFrames } from "./frame-renderer.ts";
import { createPace } from "./paint-scheduler.ts";
import { panes } from "./panes/index.ts";
import { heard, heardLink, ticked } from "./state/apply-message.ts";
import { pressed } from "./state/key-routing.ts";
import { LESSON } from "./state/learning.ts";
import { beginning, type Course, type State, say } from "./state/state.ts";
import type { Look } from "./terminal/style.ts";
import { type Hearer, openTerminal, type Streams, sizeOf } from "./terminal/terminal.ts";
import type { Target } from "./wire/control-calls.ts";
import { openLive } from "./wire/live.ts";

export interface DashboardOptions extends Streams {
  target: Target;
  look: Look;
  /** Who learns, whose pane has the keys then. */
  course?: Course | undefined;
  /** What was known when it was last left: it goes on from there. */
  known?: State | undefined;
}

export interface Dashboard {
  /** Resolves when the user has left it. */
  left: Promise<Leaving>;
  /** Gives the terminal back at once; the last words stand on it then. */
  close(words?: string): void;
  /** Says something at once, in the line of what was said last. */
  say(words: string): void;
  /** What it knows at this moment. */
  state(): State;
}

export function openDashboard({ target, look, known, course, ...streams }: DashboardOptions): Dashboard {
  let leave: Running["leave"] = () => {};
  const left = new Promise<Leaving>((resolve) => {
    leave = resolve;
  });
  const change = (next: State) => {
    running.state = next;
    running.pace.soon();
  };
  const fresh = beginning({ target, look, size: sizeOf(streams), now: realNow(), panes, course, pane: paneOf(course) });
  const state: State = known ? { ...known, size: fresh.size, now: fresh.now, link: fresh.link, samples: [] } : fresh;
  const frames = createFrames();
  const pace = createPace({
    paint: () => terminal.paint(frames.of(running.state)),
    second() {
      change(ticked(running.state, realNow()));
      refresh(running);
    },
  });
  const live = openLive(
    { target, wants: "digests", from: { run: state.run, seq: state.seen } },
    {
      message: (message) => change(heard(ticked(running.state, realNow()), message, panes)),
      link(link) {
        change(heardLink(ticked(running.state, realNow()), link));
        // Whoever has just come in does not wait a second for what stands still.
        if (link.phase === "live") refresh(running);
      },
    },
  );
  // Last, so that nothing that fails before leaves it taken.
  const terminal = openTerminal(
    streams,
    hearer(() => running, streams),
  );
  const running: Running = { target, terminal, pace, live, state, leave };
  pace.now();
  return {
    left,
    close(words) {
      live.close();
      pace.stop();
      terminal.close(words);
      frames.close();
    },
    say: (words) => change(say(running.state, words)),
    state: () => running.state,
  };
}

const paneOf = (course: Course | undefined) => course && (course.kind === "own" ? LESSON : "board");

/** What the terminal says, taken into what runs. */
const hearer = (running: () => Running, streams: Streams): Hearer => ({
  keys(names) {
    for (const name of names) take(running(), pressed({ ...running().state, now: realNow() }, name));
    running().pace.now();
  },
  changed() {
    running().state = { ...running().state, size: sizeOf(streams) };
    running().pace.now();
  },
  gone: () => running().leave("gone"),
  wrote(text) {
    running().state = say(running().state, text.trim().split("\n")[0] ?? "", "red");
    running().pace.soon();
  },
});
