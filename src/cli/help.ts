// Generates the help texts from the definitions that also parse the arguments.

import { flagOf, type OptionName, optionDefinitions, optionNames } from "../sandbox/options.ts";
import type { FlagDefinition, FlagDefinitions } from "./arguments.ts";

/** A heading with a table of terms and descriptions. Descriptions may contain line breaks. */
export interface HelpSection {
  title: string;
  rows: readonly HelpRow[];
}

type HelpRow = readonly [term: string, description: string];

interface Described {
  summary: string;
  usage: string;
  sandboxOptions: readonly OptionName[];
  flags: FlagDefinitions;
  subcommands?: Readonly<Record<string, Described>>;
  sections?(): readonly HelpSection[];
}

export function overview(commands: Readonly<Record<string, Described>>): string {
  const start = commands.start as Described;
  return [
    "merchant-sandbox: a local emulator of a merchant-operations API, with test data, API keys and signed webhooks.",
    "",
    "  merchant-sandbox                      start it, then call http://127.0.0.1:4747/v1 with the key sk_test_lodge",
    "  merchant-sandbox <command> --help     show the options of a command",
    "",
    ...section({ title: "Commands", rows: Object.values(commands).map(({ usage, summary }) => [usage, summary]) }),
    ...sandboxOptions(optionNames),
    ...section({ title: "Output", rows: Object.entries(start.flags).map(flagRow) }),
    "Each option can be set as an environment variable: --rate-limit is MERCHANT_SANDBOX_RATE_LIMIT.",
    'Or in the file merchant-sandbox.json of the folder: {"rateLimit": "10/10s"}. Flags take precedence over variables, variables over the file.',
    "Exit codes: 0 success, 1 failure, 2 usage error, 3 a check failed, 4 inconclusive, 5 port taken, 6 invalid fixtures, 7 unsupported Node.",
  ].join("\n");
}

export const commandHelp = ({ usage, summary, flags, sandboxOptions: names, sections }: Described): string =>
  [
    `merchant-sandbox ${usage}: ${summary}`,
    "",
    ...(sections?.() ?? []).flatMap(section),
    ...section({ title: "Options", rows: rowsOf(flags) }),
    ...sandboxOptions(names),
  ]
    .join("\n")
    .trimEnd();

/** The help of a command with subcommands. Lists an option once if all subcommands have it. */
export function groupHelp(name: string, { summary, subcommands = {}, sections }: Described): string {
  const all = Object.entries(subcommands);
  const isShared = (flag: string) => all.every(([, { flags }]) => Object.hasOwn(flags, flag));
  const flagsOf = (flags: FlagDefinitions, shared: boolean) =>
    Object.fromEntries(Object.entries(flags).filter(([flag]) => isShared(flag) === shared));
  return [
    `merchant-sandbox ${name}: ${summary}`,
    "",
    ...section({ title: "Subcommands", rows: all.map(([, one]) => [one.usage, one.summary]) }),
    ...(sections?.() ?? []).flatMap(section),
    ...all.flatMap(([word, { flags }]) => section({ title: `Options of ${name} ${word}`, rows: rowsOf(flagsOf(flags, false)) })),
    ...section({ title: "Options of all", rows: rowsOf(flagsOf(all[0]?.[1].flags ?? {}, true)) }),
  ]
    .join("\n")
    .trimEnd();
}

function sandboxOptions(names: readonly OptionName[]): string[] {
  const options = names.map((name) => ({ flag: flagOf(name), ...optionDefinitions[name] }));
  const groups = [...new Set(options.map(({ group }) => group))];
  return groups.flatMap((group) =>
    section({ title: group, rows: options.filter((option) => option.group === group).map((o) => row(o.flag, o)) }),
  );
}

const rowsOf = (flags: FlagDefinitions): HelpRow[] =>
  Object.entries(flags)
    .filter(([, { hidden }]) => !hidden)
    .map(flagRow);

const flagRow = ([name, flag]: [string, FlagDefinition]): HelpRow => row(`--${name}`, flag);
const row = (flag: string, { value, description }: Pick<FlagDefinition, "value" | "description">): HelpRow => [
  value === undefined ? flag : `${flag} <${value}>`,
  description,
];

const COLUMN = 34;

/** Formats a section. A term that is too long for its column gets its own line. */
function section({ title, rows }: HelpSection): string[] {
  if (rows.length === 0) return [];
  const lines = rows.map(([term, description]) => {
    const left = `  ${term}`.padEnd(COLUMN);
    const right = description.replaceAll("\n", `\n${" ".repeat(COLUMN)}`);
    return left.length > COLUMN || !left.endsWith(" ") ? `${left}\n${" ".repeat(COLUMN)}${right}` : left + right;
  });
  return [title, ...lines, ""];
}
