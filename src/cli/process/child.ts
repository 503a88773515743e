// Runs another command transparently: it inherits our streams, receives our signals, and determines the exit code. At
// its end, every process that it started is killed, including orphans and processes that ignore SIGTERM.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { constants } from "node:os";
import { attempt } from "../../kernel/attempt.ts";
import { afterRealTime } from "../../kernel/clock.ts";
import { SandboxError } from "../../kernel/errors.ts";
import { randomToken } from "../../kernel/random.ts";

const SIGNALS = ["SIGINT", "SIGQUIT", "SIGHUP", "SIGTERM"] as const;
/** Not forwarded, because the terminal sends these signals to the whole process group, including the command. */
const TERMINAL_SIGNALS: readonly string[] = ["SIGINT", "SIGQUIT"];
/** Milliseconds from SIGTERM to SIGKILL. */
const KILL_AFTER = 10_000;

export function runChild([program = "", ...words]: string[], variables: NodeJS.ProcessEnv) {
  const options = { stdio: "inherit", env: variables } as const;
  const child =
    process.platform === "win32"
      ? spawn([program, ...words].map(quoted).join(" "), { ...options, shell: true })
      : spawn(program, words, options);
  const cancelKill = forwardSignals(child);
  return { process: child, ended: endOf(child, program).finally(cancelKill) };
}

/** Resolves with the exit code, or 128 plus the number of the signal that ended the command. */
export const endOf = (child: ChildProcess, program: string) =>
  new Promise<number>((resolve, reject) => {
    child.once("error", (error) => reject(spawnError(error, program)));
    child.once("exit", (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });

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
export const quoted = (word: string) => (/^[\w\-./:\\=@]+$/.test(word) ? word : `"${word.replaceAll('"', '\\"')}"`);

function spawnError(error: Error, program: string): Error {
  const code = (error as { code?: string }).code;
  // The system also returns EACCES for an unknown name if a directory in the PATH is not readable.
  const isName = !program.includes("/");
  if (code === "ENOENT" || (code === "EACCES" && isName))
    return new SandboxError(`Command not found: "${program}". Is it installed, and on the PATH?`, "usage");
  return new SandboxError(`Cannot run "${program}": ${error.message}.`, "usage");
}

const MARK = "MERCHANT_SANDBOX_EXEC";

/**
 * A shell that waits until its standard input closes, then kills every process with the mark in its environment:
 * SIGTERM first, and SIGKILL after two seconds. The input also closes when this process is killed, so no child outlives
 * it. The guard itself has no mark, and runs in its own session, where terminal signals do not reach it.
 */
const GUARD = `
trap '' HUP INT QUIT TERM
IFS= read -r mark || exit 0
while IFS= read -r more; do :; done
find_marked() {
  if [ -r /proc/self/environ ]; then
    grep -ls -- "$mark" /proc/[0-9]*/environ | sed 's,/proc/,,;s,/environ,,'
  else
    { printf '%s\\n' "$mark"; ps -AEww -o pid= -o command=; } |
      awk 'NR == 1 { mark = $0; next } index($0, mark) { print $1 }'
  fi
}
pids=$(find_marked)
[ -z "$pids" ] && exit 0
kill -TERM $pids
tries=0
while pids=$(find_marked); [ -n "$pids" ]; do
  [ $tries -ge 40 ] && kill -KILL $pids
  [ $tries -ge 100 ] && exit 1
  tries=$((tries + 1))
  sleep 0.05 || sleep 1
done
`;

/**
 * Call this before the command starts, and add `variables` to its environment: they mark every process that descends
 * from the command. `end` kills the processes that remain, and resolves when all have ended. An `exec` inside an `exec`
 * appends its mark to the mark of the outer one.
 */
export function watchTree(command: () => ChildProcess) {
  const mark = randomToken();
  const variables = { [MARK]: [process.env[MARK], mark].filter(Boolean).join(" ") };
  return process.platform === "win32"
    ? { variables, end: () => endOnWindows(command().pid) }
    : { variables, end: openGuard(mark) };
}

function openGuard(mark: string): () => Promise<void> {
  const guard = spawn("sh", ["-c", GUARD], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    env: { PATH: process.env.PATH },
  });
  // Without a shell there is no guard, and nothing is killed.
  const gone = new Promise<void>((resolve) => {
    guard.once("error", () => resolve());
    guard.once("exit", () => resolve());
  });
  guard.stdin.on("error", () => {});
  guard.stdin.write(`${mark}\n`);
  return () => {
    guard.stdin.end();
    return gone;
  };
}

/** Kills only the tree below the command, because Windows does not record the original parent of an orphan. */
function endOnWindows(pid: number | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (pid === undefined) resolve();
    else execFile("taskkill", ["/PID", String(pid), "/T", "/F"], () => resolve());
  });
}
