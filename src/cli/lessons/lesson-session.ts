// A session of `learn`: begins a lesson, shows the learner's progress, and begins again after a reset. With plain
// lines, a prompt reads the keys for hints and skipping. The dashboard reads these keys itself: while it is
// open, the session only keeps the lesson's file up to date.

import type { LiveEvent } from "../../contracts/live-messages.ts";
import type { Sandbox } from "../../sandbox/create.ts";
import { heldNote, jsonOutput, type Output, readyFacts, readyLine, type WatchedSandbox } from "../output/output.ts";
import { note, print } from "../output/print.ts";
import { watchOwnSandbox } from "../output/show-sandbox.ts";
import { type LearnerClient, type LearnerPlace, learnerClient } from "./learner-client.ts";
import { type FileKeeper, keepFiles } from "./lesson-file.ts";
import { type LessonPrompt, openLessonPrompt } from "./lesson-prompt.ts";

/** The options of the command line. */
interface LessonStart {
  /** The name or number of a lesson (default: continue the learner's lesson, or begin the first). */
  lesson: string | undefined;
  /** The number of the step to begin at (default: the learner's step, or the first). */
  step: number | undefined;
  /** The real time at a step after which a hint is shown. */
  hintAfter: string | undefined;
}

export async function openLessonSession(
  sandbox: Sandbox,
  host: string | undefined,
  start: LessonStart,
): Promise<WatchedSandbox> {
  let { client, place } = await beginLesson(sandbox, start);
  const { id } = place.learner;
  let prompt: LessonPrompt | undefined;
  let keeper: FileKeeper | undefined;

  const beginAgain = async () => {
    ({ client, place } = await beginLesson(sandbox, start));
    if (!prompt) return;
    prompt.end();
    note("The sandbox was reset: the lesson starts again.");
    prompt = openLessonPrompt(client, place);
  };
  sandbox.onLiveEvent((event) => {
    if (isProgressOf(id, event)) {
      prompt?.look();
      keeper?.look();
    }
    if (isResetOf(id, event)) void beginAgain().catch((error: Error) => note(error.message));
  });

  const watched = watchOwnSandbox(sandbox, host, {
    async opened(output) {
      const facts = await readyFacts(sandbox);
      const current = await client.place();
      if (output === jsonOutput) {
        output.ready(facts);
        output.notice({ event: "lesson", news: "began", learner: current.learner }, "");
        return;
      }
      print(readyLine(facts));
      const held = heldNote(facts);
      if (held !== undefined) print(held);
      prompt = openLessonPrompt(client, current);
    },
    ended() {
      prompt?.end();
      prompt = undefined;
    },
    // The prompt prints the progress itself.
    isShown: (_, output: Output) => output === jsonOutput,
  });
  return {
    ...watched,
    learner: id,
    whileDashboard(show) {
      const opened = keepFiles(() => client.place(), show);
      keeper = opened;
      return () => {
        opened.end();
        keeper = undefined;
      };
    },
  };
}

const isProgressOf = (id: string, event: LiveEvent) => event.kind === "lesson" && event.lesson.learner.id === id;

/** Whether the learner's merchant was reset or removed, or everything was reset. */
const isResetOf = (id: string, event: LiveEvent) =>
  (event.kind === "reset" || event.kind === "removal") && (event.merchant ?? id) === id;

interface BegunLesson {
  client: LearnerClient;
  place: LearnerPlace;
}

/** Begins the requested lesson. Without a request, continues at the step in the database. */
async function beginLesson(sandbox: Sandbox, { lesson, step, hintAfter }: LessonStart): Promise<BegunLesson> {
  const { learner } = await sandbox.learners.join({ ...(hintAfter !== undefined && { hintAfter }) });
  const client = learnerClient(sandbox, learner.id);
  const place = await client.place();
  const isAtStep = learner.step !== null;
  const isRequested = lesson === undefined || lesson === learner.lesson || lesson === String(place.lesson?.number);
  if (isAtStep && isRequested && step === undefined) return { client, place };
  // After a completed lesson, the next lesson begins. After the last lesson, that lesson begins again.
  const proposed = isAtStep ? learner.lesson : (learner.next ?? learner.lesson);
  return { client, place: await client.begin(lesson ?? proposed ?? "1", step) };
}
