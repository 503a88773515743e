// What is shown, whichever face shows it.

import type { Course } from "../../../ui/state/state.ts";
import type { Heard } from "../../../ui/wire/live.ts";
import type { Voice } from "./plain-output.ts";

export interface Subject {
  /** Where its control plane is. */
  target: { url: string; token: string | undefined };
  /** Whether it goes on when nobody looks any more. */
  goesOn: boolean;
  /** Who learns with it, where somebody does. */
  course?: Course;
  /** What goes on beside the dashboard, with a way to say something on it; answers how to end it. */
  beside?(say: (words: string) => void): () => void;
  /** Tells what it is and what happens, from now on or from where somebody else stopped looking. */
  tell(voice: Voice, from?: Heard): Promise<Telling>;
}

export interface Telling {
  /** Rejects when there is nothing more to hear, ever. */
  over: Promise<never>;
  end(): void;
}
