// What is shown, whichever face shows it.

import type { LearningMode } from "../../../ui/state/state.ts";
import type { StreamPosition } from "../../../ui/wire/live.ts";
import type { Voice } from "./plain-output.ts";

export interface Subject {
  /** Where its control plane is. */
  target: { url: string; token: string | undefined };
  /** Whether it goes on when nobody looks any more. */
  goesOn: boolean;
  /** Who learns with it, where somebody does. */
  learning?: LearningMode;
  /** What goes on beside the dashboard, with a way to say something on it; answers how to end it. */
  beside?(say: (words: string) => void): () => void;
  /** Tells what it is and what happens, from now on or from where somebody else stopped looking. */
  tell(voice: Voice, from?: StreamPosition): Promise<Telling>;
}

export interface Telling {
  /** Rejects when there is nothing more to hear, ever. */
  over: Promise<never>;
  end(): void;
}
