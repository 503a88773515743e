// Ends the program when the npx that started it is ended.

import { afterRealTimeIfRunning } from "../../kernel/clock.ts";

/** Real milliseconds. */
const CHECK_EVERY = 250;

/**
 * npx runs `sh -c merchant-sandbox` and sends a SIGTERM to that shell only, which ends without passing it on. So a program under npx looks
 * whether its parent is still the same. A detached sandbox, which has a channel to its parent at first, outlives it on purpose.
 */
export function endWithNpx(): void {
  if (process.env.npm_lifecycle_event !== "npx" || process.send !== undefined) return;
  const parent = process.ppid;
  const check = () => {
    if (process.ppid !== parent) process.kill(process.pid, "SIGTERM");
    else afterRealTimeIfRunning(CHECK_EVERY, check);
  };
  afterRealTimeIfRunning(CHECK_EVERY, check);
}
