// Suspending with Ctrl-Z: gives the terminal to the shell, stops, and takes it back when the shell continues the process.

import { afterRealTime } from "../../src/kernel/clock.ts";
import { isInForeground } from "./foreground.ts";
import type { Screen } from "./screen.ts";

export interface Suspension {
  /** Takes the terminal over. */
  take(): void;
  /** Stops the process until the shell continues it. */
  suspend(): void;
  /** Takes the terminal back once the process is in the foreground. */
  resume(): void;
  /** Gives the terminal back, then writes `message` to it. */
  release(message: string): void;
}

const FOREGROUND_POLL_MS = 200;

/** Calls `onResume` after the program has resumed and owns the terminal again. */
export function createSuspension(input: NodeJS.ReadStream, screen: Screen, onResume: () => void): Suspension {
  let cancelPoll = () => {};
  const take = () => {
    screen.enter();
    input.resume();
  };
  const release = (message: string) => {
    cancelPoll();
    // A background process that reads the terminal is stopped by the system.
    input.pause();
    screen.leave(message);
  };
  const resume = () => {
    cancelPoll();
    if (!isInForeground()) {
      cancelPoll = afterRealTime(FOREGROUND_POLL_MS, resume);
      return;
    }
    take();
    // Node misses a resize that happened while the process was stopped; the signal makes it read the size again.
    process.kill(process.pid, "SIGWINCH");
    onResume();
  };
  const suspend = () => {
    release("");
    stopProcessGroup();
    // The system ignores the stop signal when no shell could continue the process; then it simply continues.
    cancelPoll = afterRealTime(FOREGROUND_POLL_MS, resume);
  };
  return { take, suspend, resume, release };
}

/** Stops the whole process group, as the key would: the shell waits until every process of the job has stopped. */
function stopProcessGroup(): void {
  try {
    process.kill(0, "SIGTSTP");
  } catch {
    // Windows has no such signal.
  }
}
