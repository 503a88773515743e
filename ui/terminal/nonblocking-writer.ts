// A way of our own to the user's terminal: it never waits for a terminal that does not read, and nobody else's is changed by that.

import { closeSync, constants, openSync, write, writeSync } from "node:fs";
import { blockThread } from "../../src/kernel/clock.ts";
import type { Write } from "./painter.ts";

export interface Door {
  /** Writes what the terminal takes now, and tells how much that was. */
  write: Write;
  /** Writes all of it, and stays until it is taken; a terminal that takes nothing for a while is given up. */
  writeLast(text: string): void;
  close(): void;
}

const OURS = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
const PAUSE = 5;
/** How often a terminal that takes nothing is asked for the last words: a third of a second in all. */
const TRIES = 60;

/** `shared` is the descriptor of the terminal that the process was given. */
export function openDoor(shared: number): Door {
  const own = reopen(shared);
  // Where there is no second way, a thread waits in our place; only the last words may then have to be waited for.
  if (own === undefined)
    return { write: (bytes, taken) => write(shared, bytes, taken), writeLast: (text) => void writeSync(shared, text), close() {} };
  return {
    write(bytes, taken) {
      const { count, error } = attempt(own, bytes);
      taken(error, count);
    },
    writeLast: (text) => writeLast(own, Buffer.from(text)),
    close: () => closeSync(own),
  };
}

/** The same terminal opened once more: a descriptor that was inherited shares its mode with the shell. */
function reopen(shared: number): number | undefined {
  for (const path of [`/proc/self/fd/${shared}`, "/dev/tty"]) {
    try {
      return openSync(path, OURS);
    } catch {
      // The next one, or none: another user's terminal, a machine without these.
    }
  }
  return undefined;
}

function attempt(descriptor: number, bytes: Buffer): { count: number; error: NodeJS.ErrnoException | null } {
  try {
    return { count: writeSync(descriptor, bytes), error: null };
  } catch (error) {
    return { count: 0, error: error as NodeJS.ErrnoException };
  }
}

function writeLast(descriptor: number, bytes: Buffer): void {
  let rest = bytes;
  for (let tries = 0; rest.length > 0 && tries < TRIES; ) {
    const { count, error } = attempt(descriptor, rest);
    if (error && error.code !== "EAGAIN") return;
    rest = rest.subarray(count);
    if (count > 0) tries = 0;
    else {
      tries++;
      blockThread(PAUSE);
    }
  }
}
