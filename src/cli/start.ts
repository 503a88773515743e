// `start`: runs the sandbox until it is told to stop, and shows what it does: on a dashboard, in plain lines or in JSON.

import { completeOptions } from "../options.ts";
import { createSandbox, type Sandbox } from "../sandbox.ts";
import { command } from "./command.ts";
import { announce, detach } from "./detach.ts";
import { type Face, faceOf } from "./face.ts";
import { stopSignal } from "./stop-signal.ts";
import { jsonVoice, plainVoice, type Voice } from "./voice.ts";

export const start = command({
  summary: "run the sandbox (what happens when no command is given)",
  usage: "[start]",
  sandboxOptions: true,
  flags: {
    json: { words: "one JSON object a line, for programs" },
    ui: { words: "the dashboard, also where CI is set" },
    "no-ui": { words: "plain lines, also on a terminal" },
    detach: { words: "come back once it is ready, and let it run on; merchant-sandbox stop ends it" },
  },
  async act({ options, own }) {
    if (own.detach !== undefined) return detach(completeOptions(options), own);
    const face = faceOf(own, { input: process.stdin, output: process.stdout, environment: process.env });
    const sandbox = await createSandbox(completeOptions(options));
    await show(sandbox, face);
    await sandbox.close();
    return undefined;
  },
});

/** Shows the sandbox until the user has seen enough of it. */
async function show(sandbox: Sandbox, face: Face): Promise<void> {
  const stopped = stopSignal();
  if (face === "dashboard") {
    // Loaded only here: who has no terminal does not wait for it.
    const { openDashboard } = await import("../../ui/dashboard.ts");
    const target = { url: sandbox.url, token: sandbox.controlToken };
    const dashboard = openDashboard({ target, input: process.stdin, output: process.stdout });
    await Promise.race([dashboard.left, stopped]).finally(dashboard.close);
    return;
  }
  const voice: Voice = face === "json" ? jsonVoice : plainVoice;
  sandbox.onRequest(voice.request);
  sandbox.onDefect(voice.defect);
  voice.ready(sandbox);
  announce(sandbox);
  await stopped;
}
