// Ends what a command started, all of it: also what outlived the command, what has no parent any more, and what ignores SIGTERM.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomToken } from "../../kernel/random.ts";

export interface ProcessTree {
  /** What the command is to have in its environment: by that its processes are known, however they are related. */
  variables: Record<string, string>;
  /** Resolves when none of them is left. */
  end(): Promise<void>;
}

const MARK = "MERCHANT_SANDBOX_EXEC";

/**
 * Waits until our end of its input closes, be it that we say so or that somebody killed us; so what was started never outlives
 * us. It has a session of its own, where the signals of the terminal do not reach it, and an environment without the mark.
 */
const GUARD = `
trap '' HUP INT QUIT TERM
IFS= read -r mark || exit 0
while IFS= read -r more; do :; done
find_them() {
  if [ -r /proc/self/environ ]; then
    grep -ls -- "$mark" /proc/[0-9]*/environ | sed 's,/proc/,,;s,/environ,,'
  else
    { printf '%s\\n' "$mark"; ps -AEww -o pid= -o command=; } | awk 'NR == 1 { mark = $0; next } index($0, mark) { print $1 }'
  fi
}
them=$(find_them)
[ -z "$them" ] && exit 0
kill -TERM $them
tries=0
while them=$(find_them); [ -n "$them" ]; do
  [ $tries -ge 40 ] && kill -KILL $them
  [ $tries -ge 100 ] && exit 1
  tries=$((tries + 1))
  sleep 0.05 || sleep 1
done
`;

/** To be called before the command starts. A sandbox inside a sandbox adds its own mark to the outer one's. */
export function watchTree(command: () => ChildProcess): ProcessTree {
  const mark = randomToken();
  const variables = { [MARK]: [process.env[MARK], mark].filter(Boolean).join(" ") };
  return process.platform === "win32" ? { variables, end: () => endOnWindows(command().pid) } : { variables, end: openGuard(mark) };
}

function openGuard(mark: string): () => Promise<void> {
  const guard = spawn("sh", ["-c", GUARD], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    env: { PATH: process.env.PATH },
  });
  // Where there is no shell there is no guard, and the command is on its own.
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

/** Windows forgets whose child an orphan was: only what the command itself still holds can be found. */
function endOnWindows(pid: number | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (pid === undefined) resolve();
    else execFile("taskkill", ["/PID", String(pid), "/T", "/F"], () => resolve());
  });
}
