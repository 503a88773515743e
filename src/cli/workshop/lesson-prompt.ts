// A lesson on a plain terminal: shows the step, says when it ticks, shows the next one, and hears a few letters.

import { createInterface } from "node:readline";
import { isInForeground } from "../../../ui/terminal/foreground.ts";
import { currentStepText, wrapProse } from "../../contracts/lesson-text.ts";
import { escapeControlCharacters } from "../../kernel/escape-control.ts";
import { note, print } from "../command.ts";
import type { LearnerClient, LearnerPlace } from "./learner-client.ts";
import { filesOf, stepName } from "./lesson-file.ts";

export interface Tutor {
  /** Something is another than it was. */
  heard(place: LearnerPlace): void;
  /** Asks how things stand, and says what is new. */
  look(): void;
  end(): void;
}

const LETTERS = "Run the commands in another terminal. Here: h and Enter for a hint, s to leave a step out, Ctrl-C to end.";

export function openTutor(client: LearnerClient, first: LearnerPlace): Tutor {
  let shown: LearnerPlace | undefined;
  let ended = false;
  let last: Promise<void> = Promise.resolve();
  /** One after the other, so that nothing is said twice or in the wrong order. */
  const then = (work: () => Promise<LearnerPlace | undefined>) => {
    last = last
      .then(work)
      .then(tell)
      .catch((error: Error) => {
        if (!ended) note(error.message);
      });
  };
  const tell = async (place: LearnerPlace | undefined): Promise<void> => {
    if (!place || place.learner.version <= (shown?.learner.version ?? -1)) return;
    for (const line of news(shown, place)) print(visibleLines(line));
    shown = place;
    const { step, next } = place.learner;
    if (place.lesson && step === null && next !== null) await tell(await client.begin(next));
  };
  if (!process.stdin.isRaw) print(LETTERS);
  then(async () => first);
  const letters: Record<string, () => Promise<LearnerPlace>> = { h: client.hint, s: client.skip };
  const deafen = hearLetters((letter) => {
    const wanted = letters[letter];
    if (wanted) then(wanted);
  });
  return {
    heard: (place) => then(async () => place),
    look: () => then(client.place),
    // What is still on its way when the sandbox ends is no trouble.
    end() {
      ended = true;
      deafen();
    },
  };
}

/** What it answers ends it. */
function hearLetters(heard: (letter: string) => void): () => void {
  const { stdin } = process;
  // What runs in the background would be stopped if it read from the terminal; where single keys are taken, they are another's.
  if (stdin.isTTY && (!isInForeground() || stdin.isRaw)) return () => {};
  const lines = createInterface({ input: stdin });
  lines.on("line", (line) => heard(line.trim().toLowerCase()));
  return () => lines.close();
}

/** Control characters are shown, but for the ends of lines. */
const visibleLines = (text: string) => text.split("\n").map(escapeControlCharacters).join("\n");

/** What is to be said of how somebody stands, after how they stood. */
function news(before: LearnerPlace | undefined, { learner, lesson }: LearnerPlace): string[] {
  const isSame = before?.learner.lesson === learner.lesson;
  const known = new Set(before?.learner.left.map(stepName));
  const left = lesson && before && isSame ? learner.left.filter((one) => one.lesson === lesson.name && !known.has(stepName(one))) : [];
  const lines = left.map(({ step, how }) => `\n${how}: ${lesson?.steps[step - 1]?.title}`);
  const isElsewhere = !isSame || before?.learner.step !== learner.step || left.length > 0;
  if (lesson) lines.push(...filesOf(before, { learner, lesson }));
  if (lesson && isElsewhere) lines.push(`\n${currentStepText(lesson, learner, widthOf(process.stdout))}\n`);
  // Whoever asks once more than there are hints hears the last one again.
  if (learner.hint !== null) lines.push(wrapProse(`hint: ${learner.hint}`, widthOf(process.stdout)));
  return lines;
}

/** Lines longer than this are hard to read on any terminal. */
const WIDEST = 100;

const widthOf = ({ isTTY, columns }: { isTTY?: boolean; columns?: number }) => (isTTY ? Math.min(columns ?? WIDEST, WIDEST) : undefined);
