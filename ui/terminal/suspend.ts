// Whose turn it is at the terminal: ours, the shell's while we are suspended, ours again.

import { afterRealTime } from "../../src/kernel/clock.ts";
import { isInForeground } from "./foreground.ts";
import type { Screen } from "./screen.ts";

export interface Turns {
  begin(): void;
  /** Stops this process until the shell starts it again. */
  suspend(): void;
  /** Ours again, as soon as we are in front. */
  comeBack(): void;
  /** Not ours from here on; what is left to say stands on the terminal. */
  end(words: string): void;
}

const LOOK_AGAIN_AFTER = 200;

/** `back` is called when the terminal is ours again. */
export function takeTurns(input: NodeJS.ReadStream, screen: Screen, back: () => void): Turns {
  let cancel = () => {};
  const begin = () => {
    screen.enter();
    input.resume();
  };
  const end = (words: string) => {
    cancel();
    // Whoever reads a terminal from behind is stopped.
    input.pause();
    screen.leave(words);
  };
  const comeBack = () => {
    cancel();
    if (!isInForeground()) {
      cancel = afterRealTime(LOOK_AGAIN_AFTER, comeBack);
      return;
    }
    begin();
    // The size may have changed while nobody told us.
    process.kill(process.pid, "SIGWINCH");
    back();
  };
  const suspend = () => {
    end("");
    stop();
    // Where nobody could start us again we were not stopped.
    cancel = afterRealTime(LOOK_AGAIN_AFTER, comeBack);
  };
  return { begin, suspend, comeBack, end };
}

/** Stops everything that was started together with us, as the key does: else a shell would wait for the rest of it. */
function stop(): void {
  try {
    process.kill(0, "SIGTSTP");
  } catch {
    // A system without such a signal: then there is nothing to come back from.
  }
}
