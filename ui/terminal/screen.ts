// Takes the screen over (raw mode, alternate screen, no cursor, no wrapping) and restores it, also while Ctrl-Z
// suspends the process.

import { readFileSync } from "node:fs";
import { attempt } from "../../src/kernel/attempt.ts";
import { afterRealTime } from "../../src/kernel/clock.ts";

interface ScreenOptions {
  input: Pick<NodeJS.ReadStream, "setRawMode">;
  /** Writes synchronously. */
  write(text: string): void;
  /** Discards output that is not written yet. Returns whether part of it was written. */
  discard(): boolean;
  /** Sets raw mode and bracketed paste only. */
  keysOnly: boolean;
}

/** Bracketed paste: the terminal marks pasted text, so that it is not taken for keys. */
const ENTER_PASTE = "\x1b[?2004h";
const LEAVE_PASTE = "\x1b[?2004l";
const ENTER_SCREEN = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const LEAVE_SCREEN = "\x1b[?2026l\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
/** Terminates an escape sequence that was cut off. */
const END_SEQUENCE = "\x1b\\";

/** Each step may fail, because the terminal may be gone. */
export function createScreen({ input, write, discard, keysOnly }: ScreenOptions) {
  let isActive = false;
  return {
    isActive: () => isActive,
    enter(): void {
      isActive = true;
      // Turns raw mode off first: a shell may have changed the mode without Node's knowledge, and Node ignores a mode
      // that it believes is set.
      attempt(() => input.setRawMode(false));
      attempt(() => input.setRawMode(true));
      attempt(() => write(ENTER_PASTE + (keysOnly ? "" : ENTER_SCREEN)));
    },
    /** Restores the screen, then writes `message` to it. Further calls do nothing. */
    leave(message = ""): void {
      if (!isActive) return;
      isActive = false;
      const isCutOff = discard();
      // Ends raw mode before the message, because a key that the user presses after reading it is meant for the shell.
      attempt(() => input.setRawMode(false));
      attempt(() => write((isCutOff ? END_SEQUENCE : "") + (keysOnly ? "" : LEAVE_SCREEN) + LEAVE_PASTE + message));
    },
  };
}

const FOREGROUND_POLL_MS = 200;

/** Calls `onResume` after the program has resumed and owns the terminal again. */
export function createSuspension(
  input: NodeJS.ReadStream,
  screen: ReturnType<typeof createScreen>,
  onResume: () => void,
) {
  let cancelPoll = () => {};
  const take = () => {
    screen.enter();
    input.resume();
  };
  /** Gives the terminal back, then writes `message` to it. */
  const release = (message: string) => {
    cancelPoll();
    // Stops reading, because the system stops a background process that reads the terminal.
    input.pause();
    screen.leave(message);
  };
  /** Takes the terminal back once the process is in the foreground. */
  const resume = () => {
    cancelPoll();
    if (!isInForeground()) {
      cancelPoll = afterRealTime(FOREGROUND_POLL_MS, resume);
      return;
    }
    take();
    // Node misses a resize while the process is stopped. The signal makes Node read the size again.
    process.kill(process.pid, "SIGWINCH");
    onResume();
  };
  const suspend = () => {
    release("");
    // Stops the whole process group, as Ctrl-Z does, because the shell waits until every process of the job has
    // stopped. Windows has no such signal.
    attempt(() => process.kill(0, "SIGTSTP"));
    // The system ignores the stop signal when no shell could continue the process. The process then resumes by itself.
    cancelPoll = afterRealTime(FOREGROUND_POLL_MS, resume);
  };
  return { take, suspend, resume, release };
}

/**
 * Whether the process is in the foreground. The system stops a background process that uses the terminal. Without
 * /proc, assumes the foreground.
 */
export function isInForeground(): boolean {
  // The fields follow the name, which may contain any character: state, ppid, pgrp, session, tty_nr, tpgid.
  const stat = attempt(() => readFileSync("/proc/self/stat", "utf8")) ?? "";
  const [, , processGroup, , , foregroundGroup] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return processGroup === foregroundGroup;
}
