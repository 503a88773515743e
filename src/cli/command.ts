// What a command is.

import type { OwnFlag } from "./arguments.ts";

export interface Command {
  /** The line of the help. */
  summary: string;
  /** How it is called, without the program's name. */
  usage: string;
  /** Whether it takes the options of the sandbox itself. */
  sandboxOptions: boolean;
  flags: Record<string, OwnFlag>;
  /** Answers the exit code. */
  run(words: string[]): Promise<number>;
}
