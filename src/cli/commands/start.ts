// `start`: runs a sandbox until it is stopped, and shows what happens in it.

import type { Sandbox } from "../../sandbox/create.ts";
import { completeOptions, type Options } from "../../sandbox/options.ts";
import { command } from "../command.ts";
import { tellFrom } from "../output/follow.ts";
import { plainVoice, readyFacts, type Voice } from "../output/plain-output.ts";
import { faceHere, show } from "../output/show.ts";
import { faceFlags } from "../output/ui-choice.ts";
import type { Subject } from "../output/watched-sandbox.ts";
import type { Apart } from "../process/worker.ts";
import { localUrl } from "../remote/environment.ts";

type Flags = Record<string, string | undefined>;

export const start = command({
  summary: "start a sandbox (the default command)",
  usage: "[start]",
  sandboxOptions: true,
  flags: {
    ...faceFlags,
    detach: { description: "run in the background and return when ready; end it with merchant-sandbox stop" },
  },
  async run({ options, flags }) {
    const complete = completeOptions(options);
    if (flags.detach !== undefined) return (await import("../process/detach.ts")).detach(complete, flags);
    return faceHere(flags) === "dashboard" ? lookAt(complete, flags) : tellOf(complete, flags);
  },
});

/** The sandbox runs in a worker thread, so that neither it nor the dashboard waits for the other. */
async function lookAt(options: Options, flags: Flags): Promise<number> {
  const { sandboxApart } = await import("../process/worker.ts");
  const opening = sandboxApart(options);
  try {
    return await show(opening.then(subjectApart), flags);
  } finally {
    await (await opening).close();
  }
}

function subjectApart({ facts, url, onDefect }: Apart): Subject {
  const target = { url, token: facts.controlToken };
  let voice = plainVoice;
  onDefect((defect) => voice.defect(defect));
  return {
    target,
    goesOn: false,
    beside(told) {
      // A generated token is printed nowhere else, but the dashboard may be on a shared screen: it shows on request only.
      if (facts.controlToken !== undefined) told("The control plane requires a token: press s to see it");
      return () => {};
    },
    tell(to, from) {
      voice = to;
      voice.ready(facts);
      return tellFrom(target, { ...voice, attached() {} }, from);
    },
  };
}

async function tellOf(options: Options, flags: Flags): Promise<number> {
  const { createSandbox } = await import("../../sandbox/create.ts");
  const sandbox = await createSandbox(options);
  try {
    return await show(subjectOf(sandbox, localUrl(sandbox, options.host)), flags);
  } finally {
    await sandbox.close();
  }
}

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
      if (process.send) (await import("../process/detach.ts")).announce(facts);
      return {
        over: new Promise(() => {}),
        end() {
          voice = undefined;
        },
      };
    },
  };
}
