// `start`: runs the sandbox until it is told to stop, and shows what it does.

import { completeOptions } from "../../options.ts";
import { createSandbox, type Sandbox } from "../../sandbox.ts";
import { command } from "../command.ts";
import { announce, detach } from "../detach.ts";
import { faceFlags } from "../face.ts";
import { type Subject, show } from "../faces.ts";
import { localUrl } from "../variables.ts";
import { plainVoice, readyFacts, type Voice } from "../voice.ts";

export const start = command({
  summary: "run the sandbox (what happens when no command is given)",
  usage: "[start]",
  sandboxOptions: true,
  flags: {
    ...faceFlags,
    detach: { words: "come back once it is ready, and let it run on; merchant-sandbox stop ends it" },
  },
  async act({ options, own }) {
    const complete = completeOptions(options);
    if (own.detach !== undefined) return detach(complete, own);
    const sandbox = await createSandbox(complete);
    const code = await show(subjectOf(sandbox, localUrl(sandbox, complete.host)), own);
    await sandbox.close();
    return code;
  },
});

function subjectOf(sandbox: Sandbox, url: string): Subject {
  let voice: Voice | undefined;
  sandbox.onHappening((happening) => voice?.happened(happening));
  sandbox.onDefect((defect) => (voice ?? plainVoice).defect(defect));
  return {
    target: { url, token: sandbox.controlToken },
    goesOn: false,
    async tell(to) {
      voice = to;
      const facts = await readyFacts(sandbox);
      voice.ready(facts);
      announce(facts);
      return {
        over: new Promise(() => {}),
        end() {
          voice = undefined;
        },
      };
    },
  };
}
