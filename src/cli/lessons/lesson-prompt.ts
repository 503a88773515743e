// The prompt of a lesson on a plain terminal: prints each step, and reads the keys for a hint and for skipping.

import { createInterface } from "node:readline";
import { isInForeground } from "../../../ui/terminal/screen.ts";
import { note, print, printText } from "../output/print.ts";
import type { LearnerClient, LearnerPlace } from "./learner-client.ts";
import { stepName, updateFile } from "./lesson-file.ts";
import { currentStepText, wrapProse } from "./lesson-text.ts";

export type LessonPrompt = ReturnType<typeof openLessonPrompt>;

const KEYS_HELP =
  "Run the commands in another terminal. Here: h and Enter for a hint, s and Enter to skip a step, Ctrl-C to quit.";

export function openLessonPrompt(client: LearnerClient, first: LearnerPlace) {
  let shown: LearnerPlace | undefined;
  let ended = false;
  let last: Promise<void> = Promise.resolve();
  /** Runs work one after another, so that nothing is printed twice or out of order. */
  const enqueue = (work: () => Promise<LearnerPlace | undefined>) => {
    last = last
      .then(work)
      .then(printNews)
      .catch((error: Error) => {
        if (!ended) note(error.message);
      });
  };
  const printNews = async (place: LearnerPlace | undefined): Promise<void> => {
    if (!place || place.learner.version <= (shown?.learner.version ?? -1)) return;
    for (const line of newsSince(shown, place)) printText(line);
    shown = place;
    const { step, next } = place.learner;
    if (place.lesson && step === null && next !== null) await printNews(await client.begin(next));
  };
  if (!process.stdin.isRaw) print(KEYS_HELP);
  enqueue(async () => first);
  const keys: Record<string, () => Promise<LearnerPlace>> = { h: client.hint, s: client.skip };
  const stopReading = readKeys((key) => {
    const action = keys[key];
    if (action) enqueue(action);
  });
  return {
    /** Requests the learner's progress and prints the changes. */
    look: () => enqueue(() => client.place()),
    // After this, failed requests are not reported, because the sandbox may be closing.
    end() {
      ended = true;
      stopReading();
    },
  };
}

/** Calls `pressed` with each line, until the returned function is called. */
function readKeys(pressed: (key: string) => void): () => void {
  const { stdin } = process;
  // The system would stop a background process that reads from the terminal. In raw mode, other code reads single keys.
  if (stdin.isTTY && (!isInForeground() || stdin.isRaw)) return () => {};
  const lines = createInterface({ input: stdin });
  lines.on("line", (line) => pressed(line.trim().toLowerCase()));
  return () => lines.close();
}

/** The lines to print after the learner's step or lesson has changed. */
function newsSince(before: LearnerPlace | undefined, { learner, lesson }: LearnerPlace): string[] {
  const isSame = before?.learner.lesson === learner.lesson;
  const known = new Set(before?.learner.finishedSteps.map(stepName));
  const added =
    lesson && before && isSame
      ? learner.finishedSteps.filter((one) => one.lesson === lesson.name && !known.has(stepName(one)))
      : [];
  const lines = added.map(({ step, how }) => `\n${how}: ${lesson?.steps[step - 1]?.title}`);
  const hasMoved = !isSame || before?.learner.step !== learner.step || added.length > 0;
  if (lesson) lines.push(...updateFile(before, { learner, lesson }));
  if (lesson && hasMoved) lines.push(`\n${currentStepText(lesson, learner, widthOf(process.stdout))}\n`);
  // Requesting a hint after the last one repeats it, so it is always printed.
  if (learner.hint !== null) lines.push(wrapProse(`hint: ${learner.hint}`, widthOf(process.stdout)));
  return lines;
}

/** Columns. Longer lines are hard to read. */
const MAX_WIDTH = 100;

const widthOf = ({ isTTY, columns }: { isTTY?: boolean; columns?: number }) =>
  isTTY ? Math.min(columns ?? MAX_WIDTH, MAX_WIDTH) : undefined;
