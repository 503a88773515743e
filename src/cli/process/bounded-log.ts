// Keeps the log of a background process from filling the disk: a sandbox may run for weeks and writes a line for each request.

import { fstatSync, ftruncateSync, readSync, writeSync } from "node:fs";
import { afterRealTimeIfRunning } from "../../kernel/clock.ts";

const STDOUT = 1;
/** Real milliseconds. */
const CHECK_EVERY = 1_000;

interface LogBounds {
  /** Bytes at which the log is shortened. */
  most: number;
  /** Bytes of its end that are kept. */
  kept: number;
}

const BOUNDS: LogBounds = { most: 16 * 1_048_576, kept: 1_048_576 };

/** Checks now and then, while the process runs, whether its own output has grown too long. */
export function boundLog(bounds = BOUNDS): void {
  afterRealTimeIfRunning(CHECK_EVERY, () => {
    shorten(STDOUT, bounds);
    boundLog(bounds);
  });
}

/** Keeps the last lines of a log that is open for reading and appending. */
export function shorten(fd: number, { most, kept }: LogBounds): void {
  try {
    const { size } = fstatSync(fd);
    if (size <= most) return;
    const end = Buffer.alloc(kept);
    const lines = end.subarray(0, readSync(fd, end, 0, kept, size - kept));
    const rest = lines.subarray(lines.indexOf("\n") + 1);
    ftruncateSync(fd);
    writeSync(fd, `Older lines were removed at ${size} bytes.\n`);
    writeSync(fd, rest);
  } catch {
    // A log that cannot be shortened, on a full disk for example, must not end the sandbox.
  }
}
