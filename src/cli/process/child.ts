// Runs another command as if nobody stood between it and its caller: its streams, its signals and its exit code are its own.

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { constants } from "node:os";
import { afterRealTime } from "../../kernel/clock.ts";
import { SandboxError } from "../../kernel/errors.ts";

export interface Child {
  process: ChildProcess;
  /** The exit code; 128 and the number of the signal where one ended it. */
  ended: Promise<number>;
}

const SIGNALS = ["SIGINT", "SIGQUIT", "SIGHUP", "SIGTERM"] as const;
/** Keys send these to everything that runs in the terminal: the command has them already. */
const OF_THE_TERMINAL: readonly string[] = ["SIGINT", "SIGQUIT"];
const PATIENCE = 10_000;

export function runChild([program = "", ...words]: string[], variables: NodeJS.ProcessEnv): Child {
  const options = { stdio: "inherit", env: variables } as const;
  const child =
    process.platform === "win32"
      ? spawn([program, ...words].map(quoted).join(" "), { ...options, shell: true })
      : spawn(program, words, options);
  const letGo = passSignals(child);
  const ended = new Promise<number>((resolve, reject) => {
    child.once("error", (error) => reject(explain(error, program)));
    child.once("exit", (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
  return { process: child, ended: ended.finally(letGo) };
}

/** Passes on what we are told; a command that is told to end and does not is ended, after a while or when it is told again. */
function passSignals(child: ChildProcess): () => void {
  const fromTerminal = hasTerminal();
  let giveUp: (() => void) | undefined;
  const told = (signal: NodeJS.Signals) => {
    if (fromTerminal && OF_THE_TERMINAL.includes(signal)) return;
    if (signal !== "SIGTERM") child.kill(signal);
    else if (giveUp) child.kill("SIGKILL");
    else {
      child.kill(signal);
      giveUp = afterRealTime(PATIENCE, () => void child.kill("SIGKILL"));
    }
  };
  for (const signal of SIGNALS) process.on(signal, told);
  return () => giveUp?.();
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

/** On Windows npm and its like are batch files, which only a shell runs. */
const quoted = (word: string) => (/^[\w\-./:\\=@]+$/.test(word) ? word : `"${word.replaceAll('"', '\\"')}"`);

function explain(error: Error, program: string): Error {
  const code = (error as { code?: string }).code;
  if (code === "ENOENT") return new SandboxError(`There is no command "${program}" to run. Is it installed, and on the PATH?`, "usage");
  return new SandboxError(`"${program}" cannot be run: ${error.message}.`, "usage");
}
