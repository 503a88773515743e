// Opens the dashboard: connects the live stream, the terminal and the state, and paints every change.

import type { HttpTarget } from "../../src/client/http-transport.ts";
import { afterRealTime, realNow } from "../../src/kernel/clock.ts";
import { withResolvers } from "../../src/kernel/with-resolvers.ts";
import { openLive } from "../connection/live-stream.ts";
import { openSocket } from "../connection/node-socket.ts";
import { applyTime } from "../panes/apply-message.ts";
import { panes } from "../panes/index.ts";
import { handleKey } from "../panes/keys/key-bindings.ts";
import {
  applyUpdate,
  type LeaveReason,
  type RunningDashboard,
  refresh,
  streamHandlers,
  updatePreview,
} from "../panes/run-effects.ts";
import { APP_PANE, type AppView } from "../state/app.ts";
import { LESSON_PANE } from "../state/learning.ts";
import { initialState, type UiState } from "../state/state.ts";
import { withNotice } from "../state/updates.ts";
import { COLOUR_QUERY, type ReportedColours, type Theme, tonesOn, withReport } from "../text/style.ts";
import { createPaintScheduler } from "../view/paint-scheduler.ts";
import { createFrameRenderer } from "./frame.tsx";
import { terminalPlatform } from "./platform.ts";
import { openTerminal, sizeOf, type TerminalHandlers, type TerminalStreams } from "./terminal.ts";

export interface DashboardOptions extends TerminalStreams {
  target: HttpTarget;
  theme: Theme;
  /** The id of the learner whose lesson is shown; its pane has the focus when the dashboard opens. */
  learner?: string | undefined;
  /** The app that this process runs; its pane has the focus when the dashboard opens. */
  app?: AppView | undefined;
  /** Whether the sandbox can be left running in the background. */
  canLeave?: boolean;
  /** The state in which the dashboard was last left. */
  resumeFrom?: UiState | undefined;
}

export function openDashboard({ target, theme, resumeFrom, learner, canLeave, app, ...streams }: DashboardOptions) {
  const { promise: left, resolve: leave } = withResolvers<LeaveReason>();
  const change = (next: UiState) => {
    applyUpdate(dashboard, updatePreview(next, false));
    dashboard.scheduler.paintSoon();
  };
  const lesson = learner !== undefined && { learning: { id: learner }, pane: LESSON_PANE };
  const beside = app && { app: app.state(), pane: APP_PANE };
  const fresh = initialState(panes, {
    target,
    theme,
    size: sizeOf(streams),
    now: realNow(),
    canLeave,
    ...lesson,
    ...beside,
  });
  const state: UiState = resumeFrom
    ? {
        ...resumeFrom,
        ...(app && { app: app.state() }),
        size: fresh.size,
        now: fresh.now,
        connection: fresh.connection,
        samples: [],
      }
    : fresh;
  const frames = createFrameRenderer();
  const scheduler = createPaintScheduler("terminal", {
    paint: () => terminal.paint(frames.render(dashboard.state)),
    everySecond() {
      change(applyTime(dashboard.state, realNow()));
      refresh(dashboard);
    },
  });
  const stream = openLive(
    { target, openSocket, mode: "digests", from: { run: state.run, seq: state.lastSeq } },
    streamHandlers(() => dashboard, change),
  );
  // Opened last: if anything above throws, the terminal is untouched.
  const terminal = openTerminal(
    streams,
    terminalHandlers(() => dashboard, streams),
  );
  const dashboard: RunningDashboard = {
    target,
    platform: terminalPlatform(terminal, app),
    scheduler,
    stream,
    state,
    updatePreview: () => applyUpdate(dashboard, updatePreview(dashboard.state, false)),
    leave,
  };
  const stopApp = app && showChanges(app, () => change({ ...dashboard.state, app: app.state() }));
  if (theme.colours && !theme.tones) terminal.send(COLOUR_QUERY);
  scheduler.paintNow();
  return {
    left,
    /** Restores the terminal, then writes `message` to it. */
    close(message?: string): void {
      stopApp?.();
      stream.close();
      scheduler.stop();
      terminal.close(message);
      frames.close();
    },
    notify: (text: string) => change(withNotice(dashboard.state, text)),
    state: () => dashboard.state,
  };
}

/** Real milliseconds between two updates: an app may write thousands of lines a second. */
const APP_EVERY = 50;

function showChanges({ listen }: AppView, show: () => void): () => void {
  let cancel: (() => void) | undefined;
  const stop = listen(() => {
    cancel ??= afterRealTime(APP_EVERY, () => {
      cancel = undefined;
      show();
    });
  });
  return () => {
    stop();
    cancel?.();
  };
}

function terminalHandlers(current: () => RunningDashboard, streams: TerminalStreams): TerminalHandlers {
  let colours: ReportedColours = {};
  return {
    onKeys(keys) {
      for (const key of keys) applyUpdate(current(), handleKey({ ...current().state, now: realNow() }, key));
      applyUpdate(current(), updatePreview(current().state, true));
      current().scheduler.paintNow();
    },
    onReport(report) {
      colours = withReport(colours, report);
      current().state = { ...current().state, theme: { ...current().state.theme, tones: tonesOn(colours) } };
      current().scheduler.paintSoon();
    },
    onResize() {
      current().state = { ...current().state, size: sizeOf(streams) };
      current().scheduler.paintNow();
    },
    onHangup: () => current().leave("hangup"),
    onOutput(text) {
      current().state = withNotice(current().state, text.trim().split("\n")[0] ?? "", "failure");
      current().scheduler.paintSoon();
    },
  };
}
