// Kills every process that a command started, including orphans and processes that ignore SIGTERM.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomToken } from "../../kernel/random.ts";

const MARK = "MERCHANT_SANDBOX_EXEC";

/**
 * A shell that waits until its standard input closes, then kills every process with the mark in its environment: SIGTERM first, and SIGKILL
 * after two seconds. The input also closes when this process is killed, so no child outlives it. The guard itself has no mark, and runs
 * in its own session, where terminal signals do not reach it.
 */
const GUARD = `
trap '' HUP INT QUIT TERM
IFS= read -r mark || exit 0
while IFS= read -r more; do :; done
find_marked() {
  if [ -r /proc/self/environ ]; then
    grep -ls -- "$mark" /proc/[0-9]*/environ | sed 's,/proc/,,;s,/environ,,'
  else
    { printf '%s\\n' "$mark"; ps -AEww -o pid= -o command=; } | awk 'NR == 1 { mark = $0; next } index($0, mark) { print $1 }'
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
 * Call before the command starts. Its processes are found by the variables in its environment, regardless of their parent. `end` kills the
 * remaining ones, and resolves when all have ended. An `exec` inside an `exec` appends its mark to the outer one's.
 */
export function watchTree(command: () => ChildProcess) {
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
