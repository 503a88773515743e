// A command of the program: its help, its flags, and its function.

import { didYouMean } from "../kernel/did-you-mean.ts";
import { exitCodes, SandboxError } from "../kernel/errors.ts";
import { type Arguments, type FlagDefinition, readArguments } from "./arguments.ts";
import { type CommandDescription, commandHelp } from "./help.ts";
import { printText } from "./output/print.ts";

export interface Command extends CommandDescription {
  /** All flags that it takes with these arguments. */
  flagsFor(argv: readonly string[]): Record<string, FlagDefinition>;
  /** Resolves with the exit code. */
  run(argv: string[]): Promise<number>;
}

interface CommandDefinition {
  summary: string;
  usage: string;
  /** How many positional arguments it takes (default: none). */
  positionals?: number;
  /** It takes the options of a sandbox too. */
  sandboxOptions?: boolean;
  /** Another command follows after `--`. */
  rest?: boolean;
  flags?: Record<string, FlagDefinition>;
  /** Further flags that depend on the arguments, such as those of the fields of a kind of record. */
  flagsFor?(argv: readonly string[]): Record<string, FlagDefinition>;
  /** Resolves with the exit code; undefined means success. */
  run(given: Arguments): Promise<number | undefined>;
}

/** Adds to a command what all commands share: parsing, `--help`, and the refusal of excess arguments. */
export function command(definition: CommandDefinition): Command {
  const { summary, usage, positionals = 0, sandboxOptions = false, rest = false } = definition;
  const help = { help: { description: "show this help" } };
  const description: CommandDescription = { summary, usage, sandboxOptions, flags: { ...definition.flags, ...help } };
  const flagsFor: Command["flagsFor"] = (argv) => ({ ...definition.flagsFor?.(argv), ...description.flags });
  return {
    ...description,
    flagsFor,
    async run(argv) {
      const flags = flagsFor(argv);
      const given = readArguments(argv, { sandboxOptions, rest, flags }, process.env);
      if (given.flags.help !== undefined) {
        printText(commandHelp({ ...description, flags }));
        return exitCodes.ok;
      }
      const excess = given.positionals[positionals];
      if (excess !== undefined)
        throw new SandboxError(`Unexpected argument "${excess}". Usage: merchant-sandbox ${usage}. See its --help.`, "usage");
      return (await definition.run(given)) ?? exitCodes.ok;
    },
  };
}

/** The entry with this name, such as the subcommand that the first argument names. */
export function subcommandNamed<Subcommand>(command: string, subcommands: Readonly<Record<string, Subcommand>>, name: string): Subcommand {
  const found = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;
  if (found !== undefined) return found;
  const known = Object.keys(subcommands);
  throw new SandboxError(`${command} has no subcommand ${name}.${didYouMean(name, known)} It has ${known.join(", ")}.`, "usage");
}
