// Takes the terminal over and gives it back as it was.

export interface Screen {
  /** Whether the terminal is ours at this moment. */
  isOurs(): boolean;
  /** From here on: keys as they are pressed, and of a whole screen an alternate one, no cursor, no wrapping. */
  enter(): void;
  /** Gives the terminal back at once, with some last words; may be called more than once. */
  leave(words?: string): void;
}

export interface ScreenNeeds {
  input: Pick<NodeJS.ReadStream, "setRawMode">;
  /** Writes what must be written now. */
  write(text: string): void;
  /** Takes back what was not shown yet. Answers whether a part of something was. */
  drop(): boolean;
  /** Only the keys are wanted, not the screen. */
  keysOnly: boolean;
}

const ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const LEAVE = "\x1b[?2026l\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
/** Ends whatever sequence was cut off. */
const END = "\x1b\\";

export function createScreen({ input, write, drop, keysOnly }: ScreenNeeds): Screen {
  let ours = false;
  const without = (act: () => void) => {
    try {
      act();
    } catch {
      // The terminal is gone: nobody sees what is left on it.
    }
  };
  return {
    isOurs: () => ours,
    enter() {
      ours = true;
      // What stopped us from outside may have left the terminal to somebody who set it otherwise.
      without(() => input.setRawMode(false));
      without(() => input.setRawMode(true));
      if (!keysOnly) without(() => write(ENTER));
    },
    leave(words = "") {
      if (!ours) return;
      ours = false;
      const cutOff = drop();
      // First: a key that is pressed in answer to the last words is the shell's, and must not reach it raw.
      without(() => input.setRawMode(false));
      without(() => write((cutOff ? END : "") + (keysOnly ? "" : LEAVE) + words));
    },
  };
}
