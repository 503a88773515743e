// Generates the help texts from the definitions that also parse the arguments.

import { exitCodes, exitMeanings } from "../kernel/errors.ts";
import { flagOf, type OptionName, optionDefinitions, withDefault } from "../sandbox/options.ts";
import type { FlagDefinition, FlagDefinitions } from "./arguments.ts";

/** A heading with a table of terms and descriptions. Descriptions may contain line breaks. */
export interface HelpSection {
  title: string;
  rows: readonly HelpRow[];
}

type HelpRow = readonly [term: string, description: string];

const exitNames = Object.keys(exitCodes) as (keyof typeof exitCodes)[];

/** The names of commands by the title of their group. */
export type CommandGroups = Readonly<Record<string, readonly string[]>>;

export interface Described {
  summary: string;
  usage: string;
  /** A complete command line, without the program's name. */
  example: string;
  sandboxOptions: readonly OptionName[];
  defaults?: Partial<Record<OptionName, string>>;
  /** The flags that do not depend on the arguments. */
  flags: FlagDefinitions;
  subcommands?: Readonly<Record<string, Described>>;
  sections?(isAll: boolean): readonly HelpSection[];
}

/**
 * The commands by group, on one screen. Commands that belong to no group are listed by name only, or with their
 * summaries if `isAll` is set.
 */
export function overview(commands: Readonly<Record<string, Described>>, groups: CommandGroups, isAll: boolean): string {
  const rowsOf = (names: readonly string[]): HelpRow[] => names.map((name) => [name, commands[name]?.summary ?? ""]);
  const grouped = new Set(Object.values(groups).flat());
  const others = Object.keys(commands).filter((name) => !grouped.has(name));
  return [
    "merchant-sandbox: a local emulator of a merchant platform's API, with test data, API keys and signed webhooks.",
    "",
    "  merchant-sandbox                  start it, then call http://127.0.0.1:4747/v1 with the key sk_test_lodge",
    "  merchant-sandbox help <command>   show the options of a command, such as start",
    "",
    ...Object.entries(groups).flatMap(([title, names]) => section({ title, rows: rowsOf(names) }, NAMES)),
    ...section({ title: "More", rows: isAll ? rowsOf(others) : [["help --all", wrapped(others)]] }, NAMES),
    `Exit codes: ${exitNames.map((name) => `${exitCodes[name]} ${exitMeanings[name]}`).join(", ")}.`,
  ].join("\n");
}

export const commandHelp = (
  { usage, summary, flags, sandboxOptions: names, defaults, sections }: Described,
  isAll: boolean,
): string =>
  [
    `merchant-sandbox ${usage}: ${summary}`,
    "",
    ...(sections?.(isAll) ?? []).flatMap((one) => section(one)),
    ...section({ title: "Options", rows: rowsOf(flags, isAll) }),
    ...sandboxOptions(names, defaults),
    ...(names.length > 0 ? [SOURCES_OF_OPTIONS] : []),
  ]
    .join("\n")
    .trimEnd();

const SOURCES_OF_OPTIONS = `\
Each option of the sandbox is also a variable, such as MERCHANT_SANDBOX_RATE_LIMIT for --rate-limit, and a field of
the folder's merchant-sandbox.json, such as {"rateLimit": "10/10s"}. Flags take precedence over variables, variables
over the file.`;

/** The help of a command with subcommands. Lists an option once if all subcommands have it. */
export function groupHelp(name: string, { summary, subcommands = {}, sections }: Described, isAll: boolean): string {
  const all = Object.entries(subcommands);
  const isShared = (flag: string) => all.every(([, { flags }]) => Object.hasOwn(flags, flag));
  const flagsOf = (flags: FlagDefinitions, shared: boolean) =>
    Object.fromEntries(Object.entries(flags).filter(([flag]) => isShared(flag) === shared));
  return [
    `merchant-sandbox ${name}: ${summary}`,
    "",
    ...section({ title: "Subcommands", rows: all.map(([, one]) => [one.usage, one.summary]) }),
    ...(sections?.(isAll) ?? []).flatMap((one) => section(one)),
    ...all.flatMap(([word, { flags }]) =>
      section({ title: `Options of ${name} ${word}`, rows: rowsOf(flagsOf(flags, false), isAll) }),
    ),
    ...section({ title: "Options of all subcommands", rows: rowsOf(flagsOf(all[0]?.[1].flags ?? {}, true), isAll) }),
  ]
    .join("\n")
    .trimEnd();
}

function sandboxOptions(names: readonly OptionName[], defaults: Described["defaults"] = {}): string[] {
  const options = names.map((name) => {
    const option = optionDefinitions[name];
    return { flag: flagOf(name), ...option, defaultText: defaults[name] ?? option.defaultText };
  });
  const groups = [...new Set(options.map(({ group }) => group))];
  return groups.flatMap((group) =>
    section({ title: group, rows: options.filter((option) => option.group === group).map((o) => row(o.flag, o)) }),
  );
}

const rowsOf = (flags: FlagDefinitions, isAll: boolean): HelpRow[] =>
  Object.entries(flags)
    .filter(([, { hidden, rare }]) => !hidden && (isAll || !rare))
    .map(([name, flag]) => row(`--${name}`, flag));

const row = (flag: string, definition: Pick<FlagDefinition, "value" | "description" | "defaultText">): HelpRow => [
  definition.value === undefined ? flag : `${flag} <${definition.value}>`,
  withDefault(definition),
];

/** The width of the first column, for options and for the names of commands. */
const COLUMN = 34;
const NAMES = 14;

const MOST_COLUMNS = 120;

/** A list of names, in lines that fit beside the column of terms. */
function wrapped(names: readonly string[]): string {
  const lines = [""];
  for (const [index, name] of names.entries()) {
    const added = index === names.length - 1 ? name : `${name},`;
    const line = `${lines.at(-1)} ${added}`.trimStart();
    if (line.length > MOST_COLUMNS - NAMES) lines.push(added);
    else lines[lines.length - 1] = line;
  }
  return lines.join("\n");
}

/** Formats a section. A term that is too long for its column gets its own line. */
function section({ title, rows }: HelpSection, column = COLUMN): string[] {
  if (rows.length === 0) return [];
  const lines = rows.map(([term, description]) => {
    const left = `  ${term}`.padEnd(column);
    const right = description.replaceAll("\n", `\n${" ".repeat(column)}`);
    return left.length > column || !left.endsWith(" ") ? `${left}\n${" ".repeat(column)}${right}` : left + right;
  });
  return [title, ...lines, ""];
}
