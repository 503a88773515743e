// The help as JSON, for programs that read it, such as coding agents.

import { exitCodes, exitMeanings } from "../kernel/errors.ts";
import { flagOf, optionDefinitions } from "../sandbox/options.ts";
import { version } from "../sandbox/package-files.ts";
import { argumentsIn, type FlagDefinition } from "./arguments.ts";
import type { Described } from "./help.ts";

/** Types of values by placeholder; other values are strings. */
const TYPES: Readonly<Record<string, string>> = { n: "integer", integer: "integer", p: "number", duration: "duration" };

/** This placeholder names two kinds of text. The alternatives of every other placeholder are words to type. */
const NOT_A_CHOICE = "name|file";

function optionObject(flag: string, { value, description, defaultText, multiple }: FlagDefinition) {
  const values = value?.includes("|") && value !== NOT_A_CHOICE ? value.split("|") : undefined;
  const typeOfValue = values ? "choice" : (TYPES[value ?? ""] ?? "string");
  return {
    flag,
    type: value === undefined ? "switch" : typeOfValue,
    value,
    values,
    default: defaultText,
    repeatable: multiple,
    description,
  };
}

/** One entry for a command, or one for each subcommand of a group. */
function commandObjects(command: Described): object[] {
  const { usage, summary, example, flags, sandboxOptions, defaults, subcommands, sections } = command;
  if (subcommands) return Object.values(subcommands).flatMap(commandObjects);
  const own = Object.entries(flags)
    .filter(([, { hidden }]) => !hidden)
    .map(([name, flag]) => optionObject(`--${name}`, flag));
  const ofSandbox = sandboxOptions.map((name) => {
    const option = optionDefinitions[name];
    return optionObject(flagOf(name), { ...option, defaultText: defaults?.[name] ?? option.defaultText });
  });
  return [
    {
      usage: `merchant-sandbox ${usage}`,
      summary,
      example: `merchant-sandbox ${example}`,
      arguments: argumentsIn(usage),
      options: [...own, ...ofSandbox],
      sections: sections?.(true),
    },
  ];
}

export const helpJson = (commands: readonly Described[]): string =>
  JSON.stringify({
    version: version(),
    commands: commands.flatMap(commandObjects),
    exitCodes: Object.entries(exitCodes).map(([name, code]) => ({
      code,
      meaning: exitMeanings[name as keyof typeof exitCodes],
    })),
  });
