// `start`: runs the sandbox until it is told to stop, and says what it does in plain lines or in JSON.

import { exitCodes, SandboxError } from "../kernel/errors.ts";
import { completeOptions } from "../options.ts";
import { createSandbox } from "../sandbox.ts";
import { readArguments } from "./arguments.ts";
import type { Command } from "./command.ts";
import { commandHelp } from "./help.ts";
import { jsonVoice, plainVoice } from "./voice.ts";

const flags = {
  json: { words: "one JSON object a line, for programs" },
  help: { words: "this text" },
};

export const start: Command = {
  summary: "run the sandbox (what happens when no command is given)",
  usage: "[start]",
  sandboxOptions: true,
  flags,
  async run(words) {
    const { options, own, positional } = readArguments(words, { sandboxOptions: true, own: flags }, process.env);
    if (own.help !== undefined) {
      process.stdout.write(`${commandHelp(start)}\n`);
      return exitCodes.ok;
    }
    if (positional[0] !== undefined)
      throw new SandboxError(`start takes options only; "${positional[0]}" is none. See merchant-sandbox start --help.`, "usage");
    const voice = own.json === undefined ? plainVoice : jsonVoice;
    const sandbox = await createSandbox(completeOptions(options));
    sandbox.onRequest(voice.request);
    sandbox.onDefect(voice.defect);
    voice.ready(sandbox);
    await stopSignal();
    await sandbox.close();
    return exitCodes.ok;
  },
};

/** Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
}
