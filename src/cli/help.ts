// The help texts, generated from the tables that also parse the arguments.

import { flagOf, type OptionName, optionDefinitions } from "../sandbox/options.ts";
import type { FlagDefinition } from "./arguments.ts";

export interface CommandDescription {
  /** A verb phrase in the imperative. */
  summary: string;
  /** The command line without the name of the program. */
  usage: string;
  /** It takes the options of a sandbox too. */
  sandboxOptions: boolean;
  flags: Record<string, FlagDefinition>;
}

type HelpRow = [term: string, description: string];

export function overview(commands: Record<string, CommandDescription>): string {
  const start = commands.start as CommandDescription;
  return [
    "merchant-sandbox: a local emulator of a merchant-operations API, with test data, API keys and signed webhooks.",
    "",
    "  merchant-sandbox                      start it, then call http://127.0.0.1:4747/v1 with the key sk_test_lodge",
    "  merchant-sandbox <command> --help     show the options of a command",
    "",
    ...section(
      "Commands",
      Object.values(commands).map(({ usage, summary }) => [usage, summary]),
    ),
    ...sandboxOptions(),
    ...section("Output", Object.entries(start.flags).map(flagRow)),
    "Each option can be set as an environment variable: --rate-limit is MERCHANT_SANDBOX_RATE_LIMIT.",
    "Exit codes: 0 success, 1 failure, 2 usage error, 3 a check failed, 4 inconclusive, 5 port taken, 6 invalid fixtures, 7 unsupported Node.",
  ].join("\n");
}

export function commandHelp({ usage, summary, flags, sandboxOptions: hasOptions }: CommandDescription): string {
  return [
    `merchant-sandbox ${usage}: ${summary}`,
    "",
    ...section(
      "Options",
      Object.entries(flags)
        .filter(([, { hidden }]) => !hidden)
        .map(flagRow),
    ),
    ...(hasOptions ? sandboxOptions() : []),
  ]
    .join("\n")
    .trimEnd();
}

function sandboxOptions(): string[] {
  const options = Object.entries(optionDefinitions).map(([name, definition]) => ({ flag: flagOf(name as OptionName), ...definition }));
  const groups = [...new Set(options.map(({ group }) => group))];
  return groups.flatMap((group) =>
    section(
      group,
      options.filter((option) => option.group === group).map((o) => row(o.flag, o)),
    ),
  );
}

const flagRow = ([name, flag]: [string, FlagDefinition]): HelpRow => row(`--${name}`, flag);
const row = (flag: string, { value, description }: FlagDefinition): HelpRow => [
  value === undefined ? flag : `${flag} <${value}>`,
  description,
];

const COLUMN = 34;

/** A term that is too long for its column gets a line of its own. */
function section(title: string, rows: HelpRow[]): string[] {
  if (rows.length === 0) return [];
  const lines = rows.map(([term, description]) => {
    const left = `  ${term}`.padEnd(COLUMN);
    return left.length > COLUMN || !left.endsWith(" ") ? `${left}\n${" ".repeat(COLUMN)}${description}` : left + description;
  });
  return [title, ...lines, ""];
}
