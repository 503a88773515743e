// Takes the terminal over and gives it back as it was.

import { closeSync, constants, openSync, writeSync } from "node:fs";

export interface Screen {
  /** From here on: an alternate screen, no cursor, no wrapping, keys as they are pressed. */
  enter(): void;
  /** Gives the terminal back at once; may be called more than once. */
  leave(): void;
}

const ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const LEAVE = "\x1b[?2026l\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

/** `isStuck` tells of a terminal that may have stopped reading: it is given back only as far as it takes it. */
export function createScreen(input: NodeJS.ReadStream, output: number, isStuck: () => boolean): Screen {
  let ours = false;
  const give = (raw: boolean, text: string) => {
    ours = raw;
    try {
      input.setRawMode(raw);
      if (isStuck()) writeWithoutWaiting(text);
      else writeSync(output, text);
    } catch {
      // The terminal is gone, or does not read: nobody sees what is left on it.
    }
  };
  return {
    enter() {
      if (!ours) give(true, ENTER);
    },
    leave() {
      if (ours) give(false, LEAVE);
    },
  };
}

/** Through a door of its own that never waits. */
function writeWithoutWaiting(text: string): void {
  const door = openSync("/dev/tty", constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    writeSync(door, text);
  } finally {
    closeSync(door);
  }
}
