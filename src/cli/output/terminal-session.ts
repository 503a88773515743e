// Shows a sandbox on an interactive terminal until the user quits or a signal arrives. A key switches between dashboard
// and plain lines.

import { constants } from "node:os";
import type { StreamPosition } from "../../../ui/connection/live-stream.ts";
import type { UiState } from "../../../ui/state/state.ts";
import { openDashboard } from "../../../ui/terminal/dashboard.ts";
import { openTerminal } from "../../../ui/terminal/terminal.ts";
import { detectTheme, type Theme } from "../../../ui/text/style.ts";
import { exitCodes } from "../../kernel/errors.ts";
import { escapeControlCharacters, plural } from "../../kernel/text.ts";
import { withResolvers } from "../../kernel/with-resolvers.ts";
import { listenForStop, type Stop, type StopSignal } from "../process/signals.ts";
import { plainOutput, type WatchedSandbox } from "./output.ts";
import { note } from "./print.ts";

/** Why a view ended: to switch to the other view, or to exit. */
type Ending = "other" | "quit" | "leave" | StopSignal;

/** Resolves with the exit code: 0 if the user quit, otherwise 128 plus the signal's number. Ctrl-C counts as SIGINT. */
export async function showOnTerminal(watched: WatchedSandbox, flags: { color: boolean }): Promise<number> {
  const theme = detectTheme(process.env, flags);
  const stop = listenForStop(["SIGINT", "SIGTERM", "SIGHUP"]);
  let known: UiState | undefined;
  try {
    for (;;) {
      const panes = await showDashboard(watched, theme, stop, known);
      if (panes.ending !== "other") return codeOf(panes.ending);
      known = panes.known;
      const ending = await showLines(watched, stop.received, { run: known.run, seq: known.lastSeq });
      if (ending !== "other") return codeOf(ending);
    }
  } finally {
    // From now on, a signal ends the process even while the sandbox is closing.
    stop.endAtOnce();
  }
}

const codeOf = (ending: "quit" | "leave" | StopSignal) =>
  ending === "quit" || ending === "leave" ? exitCodes.ok : 128 + constants.signals[ending];

const ENDINGS = { quit: "quit", leave: "leave", interrupt: "SIGINT", plain: "other", hangup: "SIGHUP" } as const;

async function showDashboard(watched: WatchedSandbox, theme: Theme, stop: Stop, known: UiState | undefined) {
  const { target, learner, app, failed } = watched;
  const dashboard = openDashboard({
    target,
    learner,
    canLeave: watched.leave !== undefined,
    app,
    theme,
    resumeFrom: known,
    input: process.stdin,
    output: process.stdout,
  });
  const stopBeside = watched.whileDashboard?.(dashboard.notify);
  const left = dashboard.left.then((why): Ending => ENDINGS[why]);
  let summary = "";
  try {
    const ending = await Promise.race([left, stop.received, failed ?? NEVER]);
    if (ending !== "other") {
      if (ending === "leave") watched.leave?.();
      summary = ending === "leave" ? "" : exitSummary(dashboard.state(), watched.keepsRunning);
      // Called before the summary is printed, so that a signal after it ends the process at once.
      stop.endAtOnce();
    }
    return { ending, known: dashboard.state() };
  } finally {
    stopBeside?.();
    dashboard.close(summary);
  }
}

const NEVER = new Promise<never>(() => {});

const KEYS: Record<string, Ending> = { s: "other", q: "quit", "ctrl-c": "SIGINT" };

async function showLines(
  watched: WatchedSandbox,
  received: Promise<StopSignal>,
  from: StreamPosition,
): Promise<Ending> {
  const { promise: left, resolve: leave } = withResolvers<Ending>();
  const terminal = openTerminal(
    { input: process.stdin, output: process.stdout, keysOnly: true },
    {
      onKeys(names) {
        for (const name of names) {
          if (name === "ctrl-z") terminal.suspend();
          else if (name === "ctrl-r") watched.app?.restart();
          else if (KEYS[name]) leave(KEYS[name]);
        }
      },
      onResize() {},
      onHangup: () => leave("SIGHUP"),
      onOutput() {},
    },
  );
  try {
    note("Press s for the dashboard, q to quit.");
    const following = await watched.follow(plainOutput, from);
    return await Promise.race([left, received, following.failed, watched.failed ?? NEVER]).finally(following.stop);
  } finally {
    terminal.close();
  }
}

function exitSummary({ sandbox, target, made }: UiState, keepsRunning: boolean): string {
  if (!sandbox) return `No sandbox of this version responded at ${escapeControlCharacters(target.url)}.\n`;
  const { requests, attempts, verdicts } = made;
  const counts = [
    plural(requests, "request"),
    plural(attempts, "delivery attempt"),
    plural(verdicts.fail, "failed verdict"),
  ];
  const lines = [
    `merchant-sandbox ${keepsRunning ? "keeps running" : "was"} at ${sandbox.baseUrl}`,
    counts.join(", "),
    whereDataIs(sandbox.database, keepsRunning),
  ];
  return lines.map((line) => `${escapeControlCharacters(line)}\n`).join("");
}

function whereDataIs(database: string | null, keepsRunning: boolean): string {
  if (database !== null)
    return `${keepsRunning ? "Keeps" : "Kept"} the data and the request log in ${database}; verdicts are not kept`;
  return keepsRunning ? "All data is in memory" : "All data was in memory; use --db <file> to keep it";
}
