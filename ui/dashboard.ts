// Opens the dashboard: hears the sandbox and the keys, and paints what came of it.

import { realNow } from "../src/kernel/clock.ts";
import { type Running, refresh, take } from "./effects.ts";
import { createFrames } from "./frames.ts";
import { createPace } from "./pace.ts";
import { panes } from "./panes/index.ts";
import { heard, heardLink, ticked } from "./state/hear.ts";
import { pressed } from "./state/press.ts";
import { beginning, type State } from "./state/state.ts";
import { type Look, lookOf } from "./terminal/style.ts";
import { openTerminal, type Streams, sizeOf } from "./terminal/terminal.ts";
import type { Target } from "./wire/calls.ts";
import { openLive } from "./wire/live.ts";

export interface DashboardOptions extends Streams {
  target: Target;
  look?: Look;
}

export interface Dashboard {
  /** Resolves when the user has left it: to end everything, or to go on in plain lines. */
  left: Promise<"quit" | "plain">;
  /** Gives the terminal back at once. */
  close(): void;
  /** What it knows at this moment. */
  state(): State;
}

export function openDashboard({ target, look = lookOf(process.env), ...streams }: DashboardOptions): Dashboard {
  let leave: Running["leave"] = () => {};
  const left = new Promise<"quit" | "plain">((resolve) => {
    leave = resolve;
  });
  const change = (next: State) => {
    running.state = next;
    running.pace.soon();
  };
  const state = beginning({ target, look, size: sizeOf(streams), now: realNow(), panes });
  const frames = createFrames(state);
  const pace = createPace({
    paint: () => terminal.paint(frames.of(running.state)),
    second() {
      change(ticked(running.state, realNow()));
      refresh(running);
    },
  });
  const live = openLive(target, {
    message: (message) => change(heard(ticked(running.state, realNow()), message, panes)),
    link: (link) => change(heardLink(ticked(running.state, realNow()), link)),
  });
  // Last, so that nothing that fails before leaves it taken.
  const terminal = openTerminal(streams, {
    keys(names) {
      for (const name of names) take(running, pressed({ ...running.state, now: realNow() }, name));
      running.pace.now();
    },
    changed() {
      running.state = { ...running.state, size: sizeOf(streams) };
      running.pace.now();
    },
  });
  const running: Running = { target, terminal, pace, live, state, leave };
  pace.now();
  return {
    left,
    close() {
      live.close();
      pace.stop();
      terminal.close();
      frames.close();
    },
    state: () => running.state,
  };
}
