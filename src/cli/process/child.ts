// Runs another command transparently: it keeps its streams, receives our signals, and its exit code is passed on.

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { constants } from "node:os";
import { afterRealTime } from "../../kernel/clock.ts";
import { SandboxError } from "../../kernel/errors.ts";

export interface Child {
  process: ChildProcess;
  /** The exit code, or 128 plus the number of the signal that ended it. */
  ended: Promise<number>;
}

const SIGNALS = ["SIGINT", "SIGQUIT", "SIGHUP", "SIGTERM"] as const;
/** The terminal sends these to the whole process group: the command has received them already. */
const TERMINAL_SIGNALS: readonly string[] = ["SIGINT", "SIGQUIT"];
/** Milliseconds from SIGTERM to SIGKILL. */
const KILL_AFTER = 10_000;

export function runChild([program = "", ...words]: string[], variables: NodeJS.ProcessEnv): Child {
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

/** Forwards signals. After SIGTERM the command is killed if it does not end in time, or at the second SIGTERM. */
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
  if (process.platform === "win32") return true;
  try {
    closeSync(openSync("/dev/tty", "r+"));
    return true;
  } catch {
    return false;
  }
}

/** On Windows npm and npx are batch files, which only a shell can run. */
const quoted = (word: string) => (/^[\w\-./:\\=@]+$/.test(word) ? word : `"${word.replaceAll('"', '\\"')}"`);

function spawnError(error: Error, program: string): Error {
  const code = (error as { code?: string }).code;
  // The system answers EACCES for an unknown name too, if a directory of the PATH may not be read.
  const isName = !program.includes("/");
  if (code === "ENOENT" || (code === "EACCES" && isName))
    return new SandboxError(`Command not found: "${program}". Is it installed, and on the PATH?`, "usage");
  return new SandboxError(`Cannot run "${program}": ${error.message}.`, "usage");
}
