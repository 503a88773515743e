// Puts frames on the terminal: only the lines that changed, in one piece, and never waiting for a terminal that does not read.

export interface Painter {
  /** Shows a frame; the newest one wins when the terminal is slower. */
  paint(frame: readonly string[]): void;
  /** Forgets what is on the screen, so that the next frame is painted whole. */
  renew(): void;
  /** Hands a sequence to the terminal, before the next frame. */
  send(sequence: string): void;
  /** Whether the terminal was handed something that it has not taken yet. */
  isWaiting(): boolean;
  close(): void;
}

/** Writes bytes and tells how many were taken: `fs.write` of a file descriptor. */
export type Write = (bytes: Buffer, taken: (error: NodeJS.ErrnoException | null, count: number) => void) => void;

const BEGIN = "\x1b[?2026h";
const END = "\x1b[?2026l";
const CLEAR = "\x1b[2J";

/** `again` calls back when a terminal that took nothing is to be asked once more. */
export function createPainter(write: Write, again: (retry: () => void) => void): Painter {
  let shown: readonly string[] | undefined;
  let next: readonly string[] | undefined;
  let sequences = "";
  let waiting = false;
  let closed = false;

  const hand = (bytes: Buffer) => {
    waiting = true;
    write(bytes, (error, count) => {
      if (closed) return;
      if (error?.code === "EAGAIN") return again(() => hand(bytes));
      if (error) return close();
      if (count < bytes.length) return hand(bytes.subarray(count));
      waiting = false;
      goOn();
    });
  };
  const goOn = () => {
    if (closed || waiting) return;
    const changes = next ? difference(shown, next) : "";
    const text = sequences + (changes === "" ? "" : BEGIN + changes + END);
    shown = next ?? shown;
    next = undefined;
    sequences = "";
    if (text !== "") hand(Buffer.from(text));
  };
  const close = () => {
    closed = true;
  };
  return {
    paint(frame) {
      next = frame;
      goOn();
    },
    renew() {
      shown = undefined;
    },
    send(sequence) {
      sequences += sequence;
      goOn();
    },
    isWaiting: () => waiting,
    close,
  };
}

/** What turns one frame into another, each changed line at its own place. */
export function difference(from: readonly string[] | undefined, to: readonly string[]): string {
  const height = Math.max(from?.length ?? 0, to.length);
  let changes = from === undefined ? CLEAR : "";
  for (let row = 0; row < height; row++) {
    const line = to[row] ?? "";
    if (line === (from === undefined ? "" : from[row])) continue;
    // Erased first: behind a line as wide as the screen there is nothing to erase but its last character.
    changes += `\x1b[${row + 1};1H\x1b[0m\x1b[2K${line}`;
  }
  return changes;
}
