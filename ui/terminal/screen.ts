// Takes the screen over (raw mode, alternate screen, no cursor, no wrapping) and restores it.

export interface Screen {
  /** Whether the screen is taken over. */
  isActive(): boolean;
  enter(): void;
  /** Restores the screen, then writes `message` to it. Further calls do nothing. */
  leave(message?: string): void;
}

export interface ScreenOptions {
  input: Pick<NodeJS.ReadStream, "setRawMode">;
  /** Writes synchronously. */
  write(text: string): void;
  /** Discards output that is not written yet. Returns whether part of it was. */
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

export function createScreen({ input, write, discard, keysOnly }: ScreenOptions): Screen {
  let isActive = false;
  const ignoreErrors = (act: () => void) => {
    try {
      act();
    } catch {
      // The terminal is gone.
    }
  };
  return {
    isActive: () => isActive,
    enter() {
      isActive = true;
      // Off first: a shell may have changed the mode behind Node's back, and Node ignores a mode that it believes is set.
      ignoreErrors(() => input.setRawMode(false));
      ignoreErrors(() => input.setRawMode(true));
      ignoreErrors(() => write(ENTER_PASTE + (keysOnly ? "" : ENTER_SCREEN)));
    },
    leave(message = "") {
      if (!isActive) return;
      isActive = false;
      const isCutOff = discard();
      // Before the message: a key pressed in reply to it belongs to the shell.
      ignoreErrors(() => input.setRawMode(false));
      ignoreErrors(() => write((isCutOff ? END_SEQUENCE : "") + (keysOnly ? "" : LEAVE_SCREEN) + LEAVE_PASTE + message));
    },
  };
}
