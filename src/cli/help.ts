// The help: what the program is, its commands and its options, made from the tables that also read them.

import { flagOf, type OptionName, optionFacts } from "../sandbox/options.ts";
import type { OwnFlag } from "./arguments.ts";

/** What the help needs to know of a command. */
export interface Described {
  summary: string;
  /** How it is called, without the program's name. */
  usage: string;
  /** Whether it takes the options of the sandbox itself. */
  sandboxOptions: boolean;
  flags: Record<string, OwnFlag>;
}

type Row = [left: string, right: string];

export function overview(commands: Record<string, Described>): string {
  const start = commands.start as Described;
  return [
    "merchant-sandbox: a merchant-operations API on your machine, with data, webhooks and keys to try it with.",
    "",
    "  merchant-sandbox                 start it; then call http://127.0.0.1:4747/v1 with the key sk_test_lodge",
    "  merchant-sandbox COMMAND --help  what a command takes",
    "",
    ...section(
      "Commands",
      Object.values(commands).map((command) => [command.usage, command.summary]),
    ),
    ...sandboxOptions(),
    ...section("Output", Object.entries(start.flags).map(ownRow)),
    "Each option is also a variable: --rate-limit is MERCHANT_SANDBOX_RATE_LIMIT.",
    "Exit codes: 0 ok, 1 failed, 2 wrong use, 3 a verdict failed, 4 it cannot be told, 5 port taken, 6 bad fixture.",
  ].join("\n");
}

export function commandHelp(command: Described): string {
  return [
    `merchant-sandbox ${command.usage}: ${command.summary}`,
    "",
    ...section("Options", Object.entries(command.flags).map(ownRow)),
    ...(command.sandboxOptions ? sandboxOptions() : []),
  ]
    .join("\n")
    .trimEnd();
}

function sandboxOptions(): string[] {
  const names = Object.keys(optionFacts) as OptionName[];
  const groups = [...new Set(names.map((name) => optionFacts[name].group))];
  return groups.flatMap((group) =>
    section(
      group,
      names
        .filter((name) => optionFacts[name].group === group)
        .map((name) => [`${flagOf(name)}${hintOf(optionFacts[name])}`, optionFacts[name].words]),
    ),
  );
}

const ownRow = ([name, flag]: [string, OwnFlag]): Row => [`--${name}${hintOf(flag)}`, flag.words];
const hintOf = ({ hint }: { hint?: string }) => (hint === undefined ? "" : ` ${hint}`);

const LEFT = 33;

function section(title: string, rows: Row[]): string[] {
  return rows.length === 0
    ? []
    : [
        title,
        ...rows.map(([left, right]) => `  ${left.padEnd(LEFT - 2)}${left.length > LEFT - 3 ? `\n${" ".repeat(LEFT)}` : ""}${right}`),
        "",
      ];
}
