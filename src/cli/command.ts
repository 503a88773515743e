// What a command is: a line of help, its flags, and what it does with them.

import { didYouMean } from "../kernel/did-you-mean.ts";
import { exitCodes, SandboxError } from "../kernel/errors.ts";
import { type Arguments, type OwnFlag, readArguments } from "./arguments.ts";
import { commandHelp, type Described } from "./help.ts";

export interface Command extends Described {
  /** Answers the exit code. */
  run(words: string[]): Promise<number>;
}

interface Declaration {
  summary: string;
  usage: string;
  /** How many words it takes beside its flags; none unless given. */
  words?: number;
  sandboxOptions?: boolean;
  /** Whether another command follows its own words, after `--`. */
  rest?: boolean;
  flags?: Record<string, OwnFlag>;
  act(given: Arguments): Promise<number | undefined>;
}

/** Every command reads its words in the same way, and explains itself on --help. */
export function command(declared: Declaration): Command {
  const flags = { ...declared.flags, help: { words: "this text" } };
  const made: Command = {
    summary: declared.summary,
    usage: declared.usage,
    sandboxOptions: declared.sandboxOptions ?? false,
    flags,
    async run(words) {
      const given = readArguments(words, { sandboxOptions: made.sandboxOptions, rest: declared.rest ?? false, own: flags }, process.env);
      if (given.own.help !== undefined) {
        process.stdout.write(`${commandHelp(made)}\n`);
        return exitCodes.ok;
      }
      const tooMany = given.positional[declared.words ?? 0];
      if (tooMany !== undefined)
        throw new SandboxError(`"${tooMany}" is one word too many: merchant-sandbox ${declared.usage}. See --help of it.`, "usage");
      return (await declared.act(given)) ?? exitCodes.ok;
    },
  };
  return made;
}

/** What a command does at its first word, of those that it knows. */
export function actNamed<Act>(name: string, acts: Readonly<Record<string, Act>>, word: string): Act {
  const act = Object.hasOwn(acts, word) ? acts[word] : undefined;
  if (act !== undefined) return act;
  const known = Object.keys(acts);
  throw new SandboxError(`${name} knows no ${word}.${didYouMean(word, known)} It knows ${known.join(", ")}.`, "usage");
}

/** One line for a person. */
export const say = (line: string) => void process.stdout.write(`${line}\n`);

/** One line beside the output, which may be another program's. */
export const note = (line: string) => void process.stderr.write(`merchant-sandbox: ${line}\n`);
