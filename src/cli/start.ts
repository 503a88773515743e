// `start`: runs the sandbox until it is told to stop, and says what it does in plain lines or in JSON.

import { completeOptions } from "../options.ts";
import { createSandbox } from "../sandbox.ts";
import { command } from "./command.ts";
import { stopSignal } from "./stop-signal.ts";
import { jsonVoice, plainVoice } from "./voice.ts";

export const start = command({
  summary: "run the sandbox (what happens when no command is given)",
  usage: "[start]",
  sandboxOptions: true,
  flags: { json: { words: "one JSON object a line, for programs" } },
  async act({ options, own }) {
    const voice = own.json === undefined ? plainVoice : jsonVoice;
    const sandbox = await createSandbox(completeOptions(options));
    sandbox.onRequest(voice.request);
    sandbox.onDefect(voice.defect);
    const stopped = stopSignal();
    voice.ready(sandbox);
    await stopped;
    await sandbox.close();
    return undefined;
  },
});
