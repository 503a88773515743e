// The entry point of the command line: runs the command, and turns errors into a message and an exit code.

import { didYouMean } from "../kernel/did-you-mean.ts";
import { exitCodes, SandboxError, usageError } from "../kernel/errors.ts";
import { version } from "../sandbox/package-files.ts";
import { allFlags, positionalsIn } from "./arguments.ts";
import type { Command } from "./command.ts";
import { commands, everyCommand, helpGroups } from "./commands/index.ts";
import { overview } from "./help.ts";
import { note, noteText, printText } from "./output/print.ts";
import { endWithNpx } from "./process/signals.ts";

async function main(argv: string[]): Promise<number> {
  const first = argv[0];
  if (first === "--version" || first === "-v") return show(version());
  if (first === "help" && argv[1] !== undefined && argv[1] !== "--all") return main([...argv.slice(1), "--help"]);
  if (first === "--help" || first === "-h" || first === "help")
    return show(overview(await everyCommand(), helpGroups, argv[1] === "--all"));
  const named = first !== undefined && !first.startsWith("-");
  const name = named ? first : "start";
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!load)
    usageError(`There is no command ${name}.${didYouMean(name, Object.keys(commands))} See merchant-sandbox --help.`);
  const command = await load();
  if (!named) checkOrder(argv, command);
  return command.run(named ? argv.slice(1) : argv);
}

/** Rejects a command after its flags, as in `--url X status`, whose flags would otherwise be those of `start`. */
function checkOrder(argv: readonly string[], start: Command): void {
  const later = positionalsIn(argv, allFlags(start)).find(({ value }) => Object.hasOwn(commands, value));
  if (later === undefined) return;
  const words = [later.value, ...argv.filter((_, index) => index !== later.index)];
  usageError(`Write the command before its options: merchant-sandbox ${words.join(" ")}.`);
}

/** The message of an error. Names the program that uses the port, if the port is in use. */
async function messageOf({ message, details: { port } }: SandboxError): Promise<string> {
  if (typeof port !== "number") return message;
  const { portOwner } = await import("./process/port-owner.ts");
  const owner = await portOwner(port);
  return owner === undefined ? message : message.replace("another program", () => owner);
}

function show(text: string): number {
  printText(text);
  return exitCodes.ok;
}

// If the output's pipe is closed or its disk is full, the output is lost, but the sandbox keeps running.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

endWithNpx();

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  async (error: unknown) => {
    const known = error instanceof SandboxError;
    process.exitCode = known ? error.exitCode : exitCodes.runtime;
    if (known) note(await messageOf(error));
    else noteText(`merchant-sandbox failed with an internal error: ${(error as Error)?.stack ?? error}`);
  },
);
