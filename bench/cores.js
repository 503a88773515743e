// A core for the server and the others for who measures: else the threads of the one that collect garbage take time from the other.

import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";

const LAST = availableParallelism() - 1;
let held = 0;

/** Gives a server a core of its own, and this process the others, until as many were given back. Where that cannot be had, nothing happens. */
export function holdCore(pid) {
  pin(pid, "0");
  if (held++ === 0) pin(process.pid, `1-${LAST}`);
}

export function giveCoreBack() {
  if (--held === 0) pin(process.pid, `0-${LAST}`);
}

function pin(pid, cores) {
  if (process.platform !== "linux" || LAST < 1) return;
  try {
    execFileSync("taskset", ["-a", "-c", "-p", cores, String(pid)], { stdio: "ignore" });
  } catch {
    // No such program: the system puts them where it likes.
  }
}
