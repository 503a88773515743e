// A sandbox on a terminal that a person looks at: panes or plain lines, from one to the other by a key, and every way out.

import { constants } from "node:os";
import { openDashboard } from "../../../ui/dashboard.ts";
import type { UiState } from "../../../ui/state/state.ts";
import { detectTheme, type Theme } from "../../../ui/terminal/style.ts";
import { openTerminal } from "../../../ui/terminal/terminal.ts";
import type { StreamPosition } from "../../../ui/wire/live.ts";
import { exitCodes } from "../../kernel/errors.ts";
import { note } from "../command.ts";
import { listenForStop, type Stop, type StopSignal } from "../process/stop-signal.ts";
import { farewell } from "./exit-summary.ts";
import { plainVoice } from "./plain-output.ts";
import type { Subject } from "./watched-sandbox.ts";

/** How looking in one way ended: with the wish to look in the other, or for good. */
type Ending = "other" | "quit" | StopSignal;

/** Answers the exit code: that of the signal that ended it, or that a key stood for. */
export async function showOnTerminal(subject: Subject, flags: { color: boolean }): Promise<number> {
  const look = detectTheme(process.env, flags);
  const stop = listenForStop(["SIGINT", "SIGTERM", "SIGHUP"]);
  let known: UiState | undefined;
  try {
    for (;;) {
      const panes = await inPanes(subject, look, stop, known);
      if (panes.ending !== "other") return codeOf(panes.ending);
      known = panes.known;
      const ending = await inLines(subject, stop.told, { run: known.run, seq: known.lastSeq });
      if (ending !== "other") return codeOf(ending);
    }
  } finally {
    // Whoever has said it once and says it again does not want to wait.
    stop.letGo();
  }
}

const codeOf = (ending: "quit" | StopSignal) => (ending === "quit" ? exitCodes.ok : 128 + constants.signals[ending]);

const ENDINGS = { quit: "quit", interrupt: "SIGINT", plain: "other", hangup: "SIGHUP" } as const;

async function inPanes(subject: Subject, theme: Theme, stop: Stop, resumeFrom: UiState | undefined) {
  const { target, learning } = subject;
  const dashboard = openDashboard({ target, learning, theme, resumeFrom, input: process.stdin, output: process.stdout });
  const endBeside = subject.beside?.(dashboard.notify);
  const left = dashboard.left.then((why): Ending => ENDINGS[why]);
  let words = "";
  try {
    const ending = await Promise.race([left, stop.told]);
    if (ending !== "other") {
      words = farewell(dashboard.state(), subject.goesOn);
      // Before the last words: whoever reads them and says it once more does not want to wait.
      stop.letGo();
    }
    return { ending, known: dashboard.state() };
  } finally {
    endBeside?.();
    dashboard.close(words);
  }
}

const KEYS: Record<string, Ending> = { s: "other", q: "quit", "ctrl-c": "SIGINT" };

async function inLines(subject: Subject, told: Promise<StopSignal>, from: StreamPosition): Promise<Ending> {
  let leave: (ending: Ending) => void = () => {};
  const left = new Promise<Ending>((resolve) => {
    leave = resolve;
  });
  const terminal = openTerminal(
    { input: process.stdin, output: process.stdout, keysOnly: true },
    {
      onKeys(names) {
        for (const name of names) {
          if (name === "ctrl-z") terminal.suspend();
          else if (KEYS[name]) leave(KEYS[name]);
        }
      },
      onResize() {},
      onHangup: () => leave("SIGHUP"),
      onOutput() {},
    },
  );
  try {
    note("s brings the panes back, q quits.");
    const telling = await subject.tell(plainVoice, from);
    return await Promise.race([left, told, telling.over]).finally(telling.end);
  } finally {
    terminal.close();
  }
}
