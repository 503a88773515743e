// Runs another command transparently: it inherits our streams, receives our signals, and determines the exit code.

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { constants } from "node:os";
import { attempt } from "../../kernel/attempt.ts";
import { afterRealTime } from "../../kernel/clock.ts";
import { SandboxError } from "../../kernel/errors.ts";

const SIGNALS = ["SIGINT", "SIGQUIT", "SIGHUP", "SIGTERM"] as const;
/** Not forwarded, because the terminal sends these signals to the whole process group, including the command. */
const TERMINAL_SIGNALS: readonly string[] = ["SIGINT", "SIGQUIT"];
/** Milliseconds from SIGTERM to SIGKILL. */
const KILL_AFTER = 10_000;

/** `ended` resolves with the exit code, or 128 plus the number of the signal that ended the command. */
export function runChild([program = "", ...words]: string[], variables: NodeJS.ProcessEnv) {
  const options = { stdio: "inherit", env: variables } as const;
  const child =
    process.platform === "win32"
      ? spawn([program, ...words].map(quoted).join(" "), { ...options, shell: true })
      : spawn(program, words, options);
  const cancelKill = forwardSignals(child);
  const ended = new Promise<number>((resolve, reject) => {
    child.once("error", (error) => reject(spawnError(error, program)));
    child.once("exit", (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
  return { process: child, ended: ended.finally(cancelKill) };
}

/** Forwards signals. After SIGTERM, kills the command after a timeout or at the second SIGTERM. */
function forwardSignals(child: ChildProcess): () => void {
  const fromTerminal = hasTerminal();
  let cancel: (() => void) | undefined;
  const forward = (signal: NodeJS.Signals) => {
    if (fromTerminal && TERMINAL_SIGNALS.includes(signal)) return;
    if (signal !== "SIGTERM") child.kill(signal);
    else if (cancel) child.kill("SIGKILL");
    else {
      child.kill(signal);
      cancel = afterRealTime(KILL_AFTER, () => void child.kill("SIGKILL"));
    }
  };
  for (const signal of SIGNALS) process.on(signal, forward);
  return () => cancel?.();
}

function hasTerminal(): boolean {
  const terminal = attempt(() => openSync("/dev/tty", "r+"));
  if (terminal !== undefined) closeSync(terminal);
  return terminal !== undefined || process.platform === "win32";
}

/** Quotes a word for the shell on Windows, where npm and npx are batch files that only a shell can run. */
const quoted = (word: string) => (/^[\w\-./:\\=@]+$/.test(word) ? word : `"${word.replaceAll('"', '\\"')}"`);

function spawnError(error: Error, program: string): Error {
  const code = (error as { code?: string }).code;
  // The system also returns EACCES for an unknown name if a directory in the PATH is not readable.
  const isName = !program.includes("/");
  if (code === "ENOENT" || (code === "EACCES" && isName))
    return new SandboxError(`Command not found: "${program}". Is it installed, and on the PATH?`, "usage");
  return new SandboxError(`Cannot run "${program}": ${error.message}.`, "usage");
}
