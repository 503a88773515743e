// `learn`: interactive lessons, alone with a sandbox of your own, or in a workshop room that is served or joined.

import { SandboxError } from "../../kernel/errors.ts";
import { createSandbox, type Sandbox } from "../../sandbox/create.ts";
import { completeOptions, type GivenOptions, type Options } from "../../sandbox/options.ts";
import type { Arguments } from "../arguments.ts";
import { command, note, print } from "../command.ts";
import { jsonVoice, plainVoice, readyFacts, readyLine, type Voice } from "../output/plain-output.ts";
import { show } from "../output/show.ts";
import { faceFlags } from "../output/ui-choice.ts";
import type { Subject } from "../output/watched-sandbox.ts";
import { localUrl } from "../remote/environment.ts";
import { type Running, running } from "../remote/running-sandbox.ts";
import { type LearnerClient, type LearnerPlace, ownLearnerClient } from "../workshop/learner-client.ts";
import { type FileKeeper, keepFiles } from "../workshop/lesson-file.ts";
import { openTutor, type Tutor } from "../workshop/lesson-prompt.ts";
import { joinRoom, serveRoom } from "../workshop/room.ts";

export const learn = command({
  summary: "work through the interactive lessons, alone or in a workshop (--serve, --join)",
  usage: "learn [lesson]",
  positionals: 1,
  sandboxOptions: true,
  flags: {
    list: { description: "list the lessons" },
    checkpoint: { value: "n", description: "start at this step, with the results of the steps before it" },
    "hint-after": { value: "duration", description: "show a hint after this time at a step; 0s turns that off (default: 90s)" },
    serve: { description: "open a workshop room on the network; each participant gets a merchant and lessons" },
    join: { value: "url", description: "join the workshop room at this URL" },
    name: { value: "name", description: "use this name in the room (default: your user name)" },
    ...faceFlags,
  },
  async run(given) {
    const { flags, positionals, options } = given;
    if (flags.list !== undefined) return list();
    if (flags.join !== undefined) return joinRoom(flags.join, flags.name, { lesson: positionals[0], checkpoint: checkpointOf(flags) });
    if (flags.name !== undefined) throw new SandboxError("--name is your name in a workshop room: add --join <url>.", "usage");
    if (flags.serve !== undefined) return serveRoom(options, flags);
    return alone(given);
  },
});

/** `--db` implies a sandbox on disk. */
const defaultsFor = ({ db }: GivenOptions): Partial<Options> => ({ memory: db === undefined });

function checkpointOf({ checkpoint }: Arguments["flags"]): number | undefined {
  if (checkpoint === undefined) return undefined;
  if (/^[1-9]\d?$/.test(checkpoint)) return Number(checkpoint);
  throw new SandboxError(`--checkpoint takes the number of a step; received "${checkpoint}".`, "usage");
}

async function list(): Promise<undefined> {
  const sandbox = await createSandbox();
  const { data } = await sandbox.lessons.list().finally(() => sandbox.close());
  for (const { number, name, title, steps } of data) print(`${number} ${name.padEnd(16)} ${title} (${steps.length} steps)`);
}

const runningSandbox = (sandbox: Sandbox, host: string | undefined): Running =>
  running({ url: localUrl(sandbox, host), "control-token": sandbox.controlToken });

async function alone({ options, flags, positionals: [wanted] }: Arguments): Promise<number> {
  const complete = completeOptions(options, defaultsFor(options));
  const checkpoint = checkpointOf(flags);
  const sandbox = await createSandbox(complete);
  try {
    const running = runningSandbox(sandbox, complete.host);
    const sit = async () => {
      const hintAfter = flags["hint-after"];
      const { learner } = await running.control.learners.join({ ...(hintAfter !== undefined && { hintAfter }) });
      const client = ownLearnerClient(running, learner.id);
      return { client, place: await beginAt(client, wanted, checkpoint) };
    };
    const subject = subjectOf(sandbox, running.url, await sit(), sit);
    return await show(subject, flags);
  } finally {
    await sandbox.close();
  }
}

/** Resumes the lesson that the database holds, unless another lesson or step is requested. */
async function beginAt(client: LearnerClient, wanted: string | undefined, checkpoint: number | undefined): Promise<LearnerPlace> {
  const place = await client.place();
  const { lesson: name, step, next } = place.learner;
  const isThere = step !== null && [undefined, name, String(place.lesson?.number)].includes(wanted);
  if (isThere && checkpoint === undefined) return place;
  return client.begin(wanted ?? (step === null ? next : name) ?? name ?? "1", checkpoint);
}

interface CurrentLearner {
  client: LearnerClient;
  place: LearnerPlace;
}

function subjectOf(sandbox: Sandbox, url: string, first: CurrentLearner, sit: () => Promise<CurrentLearner>): Subject {
  const { id } = first.place.learner;
  let voice: Voice | undefined;
  let tutor: Tutor | undefined;
  let keeper: FileKeeper | undefined;
  let current = first;
  const beginAfresh = async () => {
    current = await sit();
    if (!tutor) return;
    tutor.end();
    note("The sandbox was reset: the lesson starts again.");
    tutor = openTutor(current.client, current.place);
  };
  sandbox.onHappening((happening) => {
    voice?.happened(happening);
    if (happening.kind === "lesson" && happening.lesson.learner.id === id) for (const one of [tutor, keeper]) one?.look();
    if (happening.kind === "reset" && (happening.merchant ?? id) === id) void beginAfresh().catch((error: Error) => note(error.message));
  });
  sandbox.onDefect((defect) => (voice ?? plainVoice).defect(defect));
  return {
    target: { url, token: sandbox.controlToken },
    goesOn: false,
    learning: { kind: "learner", id },
    beside(told) {
      const mine = keepFiles(() => current.client.place(), told);
      keeper = mine;
      return () => {
        mine.end();
        keeper = undefined;
      };
    },
    async tell(to) {
      const facts = await readyFacts(sandbox);
      if (to === jsonVoice) {
        voice = to;
        voice.ready(facts);
      } else {
        print(readyLine(facts));
        tutor = openTutor(current.client, await current.client.place());
      }
      return {
        over: new Promise(() => {}),
        end() {
          tutor?.end();
          [tutor, voice] = [undefined, undefined];
        },
      };
    },
  };
}
