// Pins the server to one core and the load generator to the other cores. Otherwise the garbage collection threads of
// the load generator take CPU time from the server.

import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";

const LAST = availableParallelism() - 1;
let held = 0;

/**
 * Pins a server to core 0, and this process to the other cores. `giveCoreBack` unpins this process after the last
 * server. Does nothing where pinning is not possible.
 */
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
    // taskset is missing, so the system's scheduler decides.
  }
}
