// A command of the program, or a group of subcommands. Help and parsing are derived from its declaration.

import { didYouMean } from "../kernel/did-you-mean.ts";
import { exitCodes, usageError } from "../kernel/errors.ts";
import { PROGRAM } from "../kernel/program-name.ts";
import { type OptionName, optionNames } from "../sandbox/options.ts";
import { argumentsIn, type FlagDefinitions, type ParsedArguments, parseArguments, positionalsIn } from "./arguments.ts";
import { commandHelp, type Described, groupHelp, type HelpSection } from "./help.ts";
import { helpJson } from "./help-json.ts";
import { note, print, printText } from "./output/print.ts";
import { noteOfFile, readSettings, type Settings, withPlaceInFile } from "./settings.ts";

/** The arguments and flags of a command, and the options of a sandbox from flags, variables or the file. */
export interface Arguments extends Omit<ParsedArguments, "optionFlags">, Settings {
  /** Reads the options again, from the current variables and file. */
  again(): Promise<Settings>;
}

interface Description {
  /** A verb phrase in the imperative. */
  summary: string;
  /** Returns further sections of the help, before the options. `isAll` is true with `--help --all`. */
  sections?(isAll: boolean): readonly HelpSection[];
}

export interface CommandDefinition extends Description {
  /**
   * The usage without the program's name. `<argument>` is required, `[argument]` optional, and `[argument ...]`
   * repeats.
   */
  usage: string;
  /** A complete command line (default: the usage without its optional parts). */
  example?: string;
  /** The sandbox options that the command also takes: true for all (default: none). */
  sandboxOptions?: boolean | readonly OptionName[];
  /** Help texts for the defaults of sandbox options that differ in this command. */
  defaults?: Partial<Record<OptionName, string>>;
  /** Whether another command follows after `--`. */
  rest?: boolean;
  flags?: FlagDefinitions;
  /**
   * Flags that depend on the positional arguments, such as one flag per field. `positionals` also contains the values
   * of these flags, because the flags are not known yet.
   */
  flagsFor?(positionals: readonly string[]): FlagDefinitions;
  /** Resolves with the exit code (default: success). */
  run(given: Arguments): Promise<number | undefined> | Promise<void>;
}

interface GroupDefinition extends Description {
  name: string;
  /** The subcommand that runs if none is named. */
  default: string;
  subcommands: Readonly<Record<string, Command>>;
}

export interface Command extends Described {
  /** All flags that are valid with these arguments. */
  flagsFor(argv: readonly string[]): FlagDefinitions;
  /** Set only for a group. */
  subcommands?: Readonly<Record<string, Command>>;
  /** Resolves with the exit code. */
  run(argv: readonly string[]): Promise<number>;
}

/** All commands accept this flag together with --help. */
const JSON_HELP: FlagDefinitions = { json: { description: "with --help: print the help as JSON" } };
const HELP: FlagDefinitions = { help: { description: "show this help" } };
/** The help lists this flag only for commands that have more to show. The other commands accept it too. */
const ALL: FlagDefinitions = { all: { description: "with --help: show the rare options and actions too" } };

/** Creates a command that parses and checks its arguments, and prints its help with `--help`. */
export function command(definition: CommandDefinition): Command {
  const { usage, rest, sandboxOptions: wanted = false } = definition;
  const all = wanted === true ? optionNames : [];
  const sandboxOptions = typeof wanted === "boolean" ? all : wanted;
  const flags = {
    ...definition.flags,
    ...HELP,
    ...(Object.values(definition.flags ?? {}).some(({ rare }) => rare) ? ALL : {}),
  };
  const flagsFor: Command["flagsFor"] = (argv) => ({
    ...definition.flagsFor?.(positionalsIn(argv, flags).map(({ value }) => value)),
    ...flags,
  });
  const made: Command = {
    ...definition,
    example: definition.example ?? usage.replaceAll(/ \[[^\]]*\]/g, ""),
    sandboxOptions,
    flags,
    flagsFor,
    async run(argv) {
      const own = flagsFor(argv);
      const known = argv.includes("--help") ? { ...ALL, ...JSON_HELP, ...own } : own;
      const { optionFlags, ...given } = parseArguments(argv, {
        name: nameIn(usage),
        sandboxOptions,
        rest,
        flags: known,
      });
      if (given.flags.help !== undefined) {
        const described = { ...made, flags: own };
        if (given.flags.json !== undefined) print(helpJson([described]));
        else printText(commandHelp(described, given.flags.all !== undefined));
        return exitCodes.ok;
      }
      checkPositionals(given.positionals, made);
      const again = () => readSettings(optionFlags, sandboxOptions);
      const settings = sandboxOptions.length > 0 ? await again() : { options: {}, sources: {} };
      const fromFile = wanted === true ? noteOfFile(settings.sources) : undefined;
      if (fromFile !== undefined) note(fromFile);
      try {
        const code = await definition.run({ ...given, ...settings, again });
        return typeof code === "number" ? code : exitCodes.ok;
      } catch (error) {
        throw await withPlaceInFile(error, settings.sources);
      }
    },
  };
  return made;
}

/** The name of a command in its usage, such as `fault add` in `fault add <action>`. */
const nameIn = (usage: string) => /^[a-z]+( [a-z]+)*/.exec(usage)?.[0] ?? "";

function checkPositionals(given: readonly string[], { usage, example }: Described): void {
  const known = argumentsIn(usage);
  const missing = known[given.length];
  if (missing?.required) usageError(`<${missing.name}> is missing. Example: ${PROGRAM} ${example}`);
  const excess = known.at(-1)?.repeatable ? undefined : given[known.length];
  if (excess !== undefined) usageError(`Unexpected argument "${excess}". Usage: ${PROGRAM} ${usage}. See its --help.`);
}

/** Names that other tools give to a subcommand. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ["list", "ls"],
  ["remove", "rm"],
  ["delete", "rm"],
]);

/** Creates a command whose first argument names a subcommand. Each subcommand has its own flags. */
export function commandGroup({ name, subcommands, ...definition }: GroupDefinition): Command {
  const all = Object.values(subcommands);
  const flags: FlagDefinitions = Object.assign({}, ...all.map((one) => one.flags));
  const [first] = all;
  const usages = all.map(({ usage }) => usage.slice(name.length + 1));
  const group: Command = {
    ...definition,
    usage: `${name} [${usages.join(" | ")}]`,
    example: first?.example ?? name,
    sandboxOptions: [],
    flags,
    flagsFor: () => flags,
    subcommands,
    async run(argv) {
      const [word] = positionalsIn(argv, flags);
      if (word === undefined && argv.includes("--help")) {
        if (argv.includes("--json")) print(helpJson([group]));
        else printText(groupHelp(name, group, argv.includes("--all")));
        return exitCodes.ok;
      }
      const wanted = word?.value ?? definition.default;
      const found = Object.hasOwn(subcommands, wanted) ? subcommands[wanted] : undefined;
      if (found) return found.run(word === undefined ? argv : argv.filter((_, index) => index !== word.index));
      const known = Object.keys(subcommands);
      const other = OTHER_NAMES.get(wanted) ?? "";
      const meant = known.includes(other) ? ` Did you mean ${other}?` : didYouMean(wanted, known);
      return usageError(`${name} has no subcommand ${wanted}.${meant} It has ${known.join(", ")}.`);
    },
  };
  return group;
}
