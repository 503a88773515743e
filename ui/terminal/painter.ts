// Paints frames: writes only the lines that changed, as one synchronized update, without waiting for a slow terminal.

/** Writes bytes, and reports how many the terminal accepted. */
export type TerminalWrite = (bytes: Buffer, done: (error: NodeJS.ErrnoException | null, count: number) => void) => void;

const BEGIN_UPDATE = "\x1b[?2026h";
const END_UPDATE = "\x1b[?2026l";
const CLEAR = "\x1b[2J";

/**
 * `scheduleRetry` is called after the terminal accepted nothing, with the number of retries since it last accepted
 * bytes.
 */
export function createPainter(write: TerminalWrite, scheduleRetry: (retry: () => void, tries: number) => void) {
  let shown: readonly string[] | undefined;
  let next: readonly string[] | undefined;
  let sequences = "";
  let pending: Buffer | undefined;

  const send = (bytes: Buffer, tries = 0) => {
    pending = bytes;
    write(bytes, (error, count) => {
      // The bytes were discarded meanwhile, or the terminal is gone.
      if (pending !== bytes || (error && error.code !== "EAGAIN")) return;
      if (count === bytes.length) {
        pending = undefined;
        return flush();
      }
      if (count > 0) return send(bytes.subarray(count));
      scheduleRetry(() => pending === bytes && send(bytes, tries + 1), tries);
    });
  };
  const flush = () => {
    if (pending) return;
    const changes = next ? difference(shown, next) : "";
    const text = sequences + (changes === "" ? "" : BEGIN_UPDATE + changes + END_UPDATE);
    shown = next ?? shown;
    next = undefined;
    sequences = "";
    if (text !== "") send(Buffer.from(text));
  };
  return {
    /** Paints a frame. While a write is pending, only the newest frame is kept. */
    paint(frame: readonly string[]): void {
      next = frame;
      flush();
    },
    /** Paints the next frame whole. */
    invalidate(): void {
      shown = undefined;
    },
    /** Writes an escape sequence before the next frame. */
    send(sequence: string): void {
      sequences += sequence;
      flush();
    },
    /** Discards unwritten output. Returns whether a write was cut off. */
    discard(): boolean {
      const wasPending = pending !== undefined;
      pending = undefined;
      next = undefined;
      shown = undefined;
      sequences = "";
      return wasPending;
    },
  };
}

/** The escape sequences that turn one frame into another; without a frame to start from, the screen is cleared. */
export function difference(from: readonly string[] | undefined, to: readonly string[]): string {
  const height = Math.max(from?.length ?? 0, to.length);
  let changes = from === undefined ? CLEAR : "";
  for (let row = 0; row < height; row++) {
    const line = to[row] ?? "";
    if (line === (from === undefined ? "" : from[row])) continue;
    // Erases before writing: erasing after a line as wide as the screen would erase its last character.
    changes += `\x1b[${row + 1};1H\x1b[0m\x1b[2K${line}`;
  }
  return changes;
}
