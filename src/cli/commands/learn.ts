// `learn`: interactive lessons, alone with an own sandbox, or in a workshop room to serve or join.

import { usageError } from "../../kernel/errors.ts";
import { createSandbox, type Sandbox } from "../../sandbox/create.ts";
import { completeOptions, type GivenOptions } from "../../sandbox/options.ts";
import { type Arguments, command } from "../command.ts";
import { jsonOutput, readyFacts, readyLine, type WatchedSandbox } from "../output/output.ts";
import { note, print } from "../output/print.ts";
import { show, uiFlags, watchOwnSandbox } from "../output/show-sandbox.ts";
import { localUrl, sandboxAt } from "../remote/running-sandbox.ts";
import { givenFlag } from "../settings.ts";
import { type FileKeeper, keepFiles, type LearnerPlace } from "../workshop/lesson-file.ts";
import { type LearnerClient, type LessonPrompt, learnerClient, openLessonPrompt } from "../workshop/lesson-prompt.ts";
import { joinRoom, serveRoom } from "../workshop/room.ts";

export const learn = command({
  summary: "work through the interactive lessons, alone or in a workshop (--serve, --join)",
  usage: "learn [lesson]",
  sandboxOptions: true,
  defaults: { db: "in memory", memory: "yes, unless --db names a file" },
  flags: {
    list: { description: "list the lessons" },
    checkpoint: { value: "n", description: "start at this step, with the results of the steps before it" },
    "hint-after": {
      value: "duration",
      description:
        "show a hint after this time at a step, or 8s after a fix that does not work; 0s turns both off (default: 90s)",
    },
    serve: { description: "open a workshop room on the network; each participant gets a merchant and lessons" },
    join: { value: "url", description: "join the workshop room at this URL" },
    name: { value: "name", description: "use this name in the room (default: your user name)" },
    ...uiFlags,
  },
  async run(given) {
    const { flags, positionals, options, sources } = given;
    if (flags.list !== undefined) return list(options);
    const unused = flags.join === undefined ? undefined : givenFlag(sources);
    if (unused !== undefined) usageError(`--join uses the sandbox of the room: leave out ${unused}.`);
    if (flags.join !== undefined)
      return joinRoom(flags.join, flags.name, { lesson: positionals[0], checkpoint: checkpointOf(flags) });
    if (flags.name !== undefined) usageError("--name is your name in a workshop room: add --join <url>.");
    if (flags.serve !== undefined) return serveRoom(options, flags);
    return learnAlone(given);
  },
});

function checkpointOf({ checkpoint }: Arguments["flags"]): number | undefined {
  if (checkpoint === undefined) return undefined;
  if (/^[1-9]\d?$/.test(checkpoint)) return Number(checkpoint);
  usageError(`--checkpoint takes the number of a step; received "${checkpoint}".`);
}

/** Reads the lessons with a sandbox of their own, which takes any free port. */
async function readLessons<Read>({ lessons }: GivenOptions, read: (sandbox: Sandbox) => Promise<Read>): Promise<Read> {
  const sandbox = await createSandbox({ ...(lessons !== undefined && { lessons }) });
  return read(sandbox).finally(() => sandbox.close());
}

async function list(options: GivenOptions): Promise<undefined> {
  const { data } = await readLessons(options, (sandbox) => sandbox.lessons.list());
  for (const { number, name, title, steps } of data)
    print(`${number} ${name.padEnd(16)} ${title} (${steps.length} steps)`);
}

async function learnAlone({ options, flags, positionals: [wanted] }: Arguments): Promise<number> {
  // --db implies a sandbox on disk.
  const complete = completeOptions(options, { memory: options.db === undefined });
  const checkpoint = checkpointOf(flags);
  const sandbox = await createSandbox(complete).catch(async (error) => {
    // A mistyped lesson is reported before a port in use, which needs another mend.
    if (wanted !== undefined) await readLessons(options, ({ lessons }) => lessons.get({ name: wanted }));
    throw error;
  });
  try {
    const running = sandboxAt({ url: localUrl(sandbox, complete.host), controlToken: sandbox.controlToken });
    const join = async () => {
      const hintAfter = flags["hint-after"];
      const { learner } = await running.control.learners.join({ ...(hintAfter !== undefined && { hintAfter }) });
      const client = learnerClient(running, learner.id);
      return { client, place: await beginAt(client, wanted, checkpoint) };
    };
    return await show(watchLearner(sandbox, complete.host, await join(), join), flags);
  } finally {
    await sandbox.close();
  }
}

/** Resumes the lesson stored in the database, unless another lesson or a step is requested. */
async function beginAt(
  client: LearnerClient,
  wanted: string | undefined,
  checkpoint: number | undefined,
): Promise<LearnerPlace> {
  const place = await client.place();
  const { lesson: name, step, next } = place.learner;
  const isCurrent = step !== null && [undefined, name, String(place.lesson?.number)].includes(wanted);
  if (isCurrent && checkpoint === undefined) return place;
  return client.begin(wanted ?? (step === null ? next : name) ?? name ?? "1", checkpoint);
}

interface CurrentLearner {
  client: LearnerClient;
  place: LearnerPlace;
}

function watchLearner(
  sandbox: Sandbox,
  host: string | undefined,
  first: CurrentLearner,
  join: () => Promise<CurrentLearner>,
): WatchedSandbox {
  const { id } = first.place.learner;
  let prompt: LessonPrompt | undefined;
  let keeper: FileKeeper | undefined;
  let current = first;
  const restart = async () => {
    current = await join();
    if (!prompt) return;
    prompt.end();
    note("The sandbox was reset: the lesson starts again.");
    prompt = openLessonPrompt(current.client, current.place);
  };
  sandbox.onHappening((event) => {
    if (event.kind === "lesson" && event.lesson.learner.id === id) for (const one of [prompt, keeper]) one?.look();
    if ((event.kind === "reset" || event.kind === "removal") && (event.merchant ?? id) === id)
      void restart().catch((error: Error) => note(error.message));
  });
  const watched = watchOwnSandbox(sandbox, host, {
    async opened(output) {
      const facts = await readyFacts(sandbox);
      if (output === jsonOutput) return output.ready(facts);
      print(readyLine(facts));
      prompt = openLessonPrompt(current.client, await current.client.place());
    },
    ended() {
      prompt?.end();
      prompt = undefined;
    },
    isShown: (_, output) => output === jsonOutput,
  });
  return {
    ...watched,
    learning: { kind: "learner", id },
    whileDashboard(show) {
      const mine = keepFiles(() => current.client.place(), show);
      keeper = mine;
      return () => {
        mine.end();
        keeper = undefined;
      };
    },
  };
}
