// The entry point of the command line: runs the command, and turns errors into a message and an exit code.

import { didYouMean } from "../kernel/did-you-mean.ts";
import { exitCodes, SandboxError, usageError } from "../kernel/errors.ts";
import { PROGRAM } from "../kernel/program-name.ts";
import { kebab } from "../kernel/text.ts";
import { version } from "../sandbox/package-files.ts";
import { allFlags, positionalsIn } from "./arguments.ts";
import type { Command } from "./command.ts";
import { commands, everyCommand, helpGroups, otherNames } from "./commands/index.ts";
import { overview } from "./help.ts";
import { helpJson } from "./help-json.ts";
import { noteDefect, noteError, printText, writeNotesAsJson } from "./output/print.ts";
import { endWithNpx } from "./process/signals.ts";

async function main(argv: string[]): Promise<number> {
  const first = argv[0];
  if (first === "--version" || first === "-v") return show(version());
  if (first === "help" && argv[1] !== undefined && !argv[1].startsWith("-")) return main([...argv.slice(1), "--help"]);
  if (first === "--help" || first === "-h" || first === "help") {
    const all = await everyCommand();
    return show(
      argv.includes("--json") ? helpJson(Object.values(all)) : overview(all, helpGroups, argv.includes("--all")),
    );
  }
  const named = first !== undefined && !first.startsWith("-");
  const name = named ? first : "start";
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!load) usageError(`There is no command ${name}.${suggestion(name)} See ${PROGRAM} --help.`);
  const command = await load();
  if (!named) checkOrder(argv, command);
  return command.run(named ? argv.slice(1) : argv);
}

/** ` Did you mean X?` for a name that resembles a command; otherwise empty. */
const suggestion = (name: string) =>
  Object.hasOwn(otherNames, name)
    ? ` Did you mean ${otherNames[name]?.join(" or ")}?`
    : didYouMean(name, Object.keys(commands));

/** Rejects flags before a command, as in `--url X status`: without a leading command, flags belong to `start`. */
function checkOrder(argv: readonly string[], start: Command): void {
  const later = positionalsIn(argv, allFlags(start)).find(({ value }) => Object.hasOwn(commands, value));
  if (later === undefined) return;
  const words = [later.value, ...argv.filter((_, index) => index !== later.index)];
  usageError(`Write the command before its options: ${PROGRAM} ${words.join(" ")}.`);
}

/** The message of an error. Names the program that uses the port, if the port is in use. */
async function messageOf({ message, details: { port } }: SandboxError): Promise<string> {
  if (typeof port !== "number") return message;
  const { portOwner } = await import("./process/port-owner.ts");
  const owner = await portOwner(port);
  return owner === undefined ? message : message.replace("another program", () => owner);
}

/** The arguments before `--`. The arguments after it belong to another program. */
const beforeRest = (argv: readonly string[]) => argv.slice(0, argv.includes("--") ? argv.indexOf("--") : undefined);

/** The kind of failure that an exit code stands for, such as `port_in_use`. */
const nameOfExit = (code: number) =>
  kebab(Object.entries(exitCodes).find(([, one]) => one === code)?.[0] ?? "runtime").replaceAll("-", "_");

function show(text: string): number {
  printText(text);
  return exitCodes.ok;
}

// If the output's pipe is closed or its disk is full, the output is lost, but the sandbox keeps running.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

endWithNpx();
if (beforeRest(process.argv).includes("--json")) writeNotesAsJson();

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  async (error: unknown) => {
    const known = error instanceof SandboxError;
    const exitCode = known ? error.exitCode : exitCodes.runtime;
    process.exitCode = exitCode;
    if (known) noteError(error.code ?? nameOfExit(exitCode), await messageOf(error), exitCode);
    else noteDefect((error as Error)?.stack ?? String(error), exitCode);
  },
);
