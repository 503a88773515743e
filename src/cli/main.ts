// The command line: finds the command, runs it, and turns what goes wrong into one sentence and an exit code.

import { didYouMean } from "../kernel/did-you-mean.ts";
import { exitCodes, SandboxError } from "../kernel/errors.ts";
import { version } from "../sandbox/package-files.ts";
import { commands, everyCommand } from "./commands/index.ts";
import { overview } from "./help.ts";

async function main(words: string[]): Promise<number> {
  const first = words[0];
  if (first === "--version" || first === "-v") return print(version());
  if (first === "--help" || first === "-h" || first === "help") return print(overview(await everyCommand()));
  const named = first !== undefined && !first.startsWith("-");
  const name = named ? first : "start";
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!load)
    throw new SandboxError(`There is no command ${name}.${didYouMean(name, Object.keys(commands))} See merchant-sandbox --help.`, "usage");
  return (await load()).run(named ? words.slice(1) : words);
}

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return exitCodes.ok;
}

// Whoever read the output may leave, and the disk of a log may be full: what is said then is said to nobody, and the sandbox goes on.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    const known = error instanceof SandboxError;
    process.stderr.write(
      known ? `merchant-sandbox: ${error.message}\n` : `merchant-sandbox failed; this is a defect of its own: ${(error as Error).stack}\n`,
    );
    process.exitCode = known ? error.exitCode : exitCodes.runtime;
  },
);
