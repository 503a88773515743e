// Puts frames on the terminal: only the lines that changed, in one piece, and never waiting for a terminal that does not read.

export interface Painter {
  /** Shows a frame; the newest one wins when the terminal is slower. */
  paint(frame: readonly string[]): void;
  /** Forgets what is on the screen, so that the next frame is painted whole. */
  renew(): void;
  /** Hands a sequence to the terminal, before the next frame. */
  send(sequence: string): void;
  /** Takes back what the terminal has not taken yet. Answers whether it had taken a part of something. */
  drop(): boolean;
}

/** Writes bytes and tells how many were taken. */
export type Write = (bytes: Buffer, taken: (error: NodeJS.ErrnoException | null, count: number) => void) => void;

const BEGIN = "\x1b[?2026h";
const END = "\x1b[?2026l";
const CLEAR = "\x1b[2J";

/** `again` calls back when a terminal that took nothing is to be asked once more, having been asked so many times. */
export function createPainter(write: Write, again: (retry: () => void, tries: number) => void): Painter {
  let shown: readonly string[] | undefined;
  let next: readonly string[] | undefined;
  let sequences = "";
  let handed: Buffer | undefined;

  const hand = (bytes: Buffer, tries = 0) => {
    handed = bytes;
    write(bytes, (error, count) => {
      // It was taken back, or the terminal is gone and nobody sees anything any more.
      if (handed !== bytes || (error && error.code !== "EAGAIN")) return;
      if (count === bytes.length) return done();
      if (count > 0) return hand(bytes.subarray(count));
      again(() => handed === bytes && hand(bytes, tries + 1), tries);
    });
  };
  const done = () => {
    handed = undefined;
    goOn();
  };
  const goOn = () => {
    if (handed) return;
    const changes = next ? difference(shown, next) : "";
    const text = sequences + (changes === "" ? "" : BEGIN + changes + END);
    shown = next ?? shown;
    next = undefined;
    sequences = "";
    if (text !== "") hand(Buffer.from(text));
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
    drop() {
      const had = handed !== undefined;
      handed = undefined;
      next = undefined;
      shown = undefined;
      sequences = "";
      return had;
    },
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
