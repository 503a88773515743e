// The file that a lesson works on, put where the learner is. What somebody wrote is never lost.

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { LessonFile } from "../../contracts/lesson.ts";
import type { LearnerPlace } from "./learner-client.ts";

/** The file as it is at the start, unless there is one; answers what was done. */
export function putStart({ name, start }: LessonFile): string {
  if (existsSync(name)) return `${name} is here already, and was left as it is.`;
  writeFileSync(name, start);
  return `${name} was put into this folder.`;
}

/** The file as it is at the end; what is there goes aside. */
export function putSolution({ name, solution }: LessonFile): string {
  const isOther = existsSync(name) && readFileSync(name, "utf8") !== solution;
  if (isOther) renameSync(name, `${name}.before`);
  writeFileSync(name, solution);
  return isOther ? `${name} is the solution now; yours is ${name}.before.` : `${name} is the solution now.`;
}

export const stepName = ({ lesson, step }: { lesson: string; step: number }) => `${lesson} ${step}`;

/** The lesson's file is there when it begins, and solved where the learner comes past the step that solves it; answers what was done. */
export function filesOf(before: LearnerPlace | undefined, { learner, lesson }: LearnerPlace): string[] {
  if (!lesson?.file) return [];
  const isSame = before?.learner.lesson === learner.lesson;
  const known = new Set(isSame ? before?.learner.left.map(stepName) : []);
  const isPast = learner.left.some(
    (one) => one.lesson === lesson.name && one.how !== "ticked" && lesson.steps[one.step - 1]?.mends && !known.has(stepName(one)),
  );
  if (isPast) return [putSolution(lesson.file)];
  return isSame ? [] : [putStart(lesson.file)];
}

export interface FileKeeper {
  /** Something is another than it was. */
  look(): void;
  end(): void;
}

/** Keeps the file of whoever learns at the dashboard, which has no folder. */
export function keepFiles(place: () => Promise<LearnerPlace>, say: (words: string) => void): FileKeeper {
  let shown: LearnerPlace | undefined;
  let ended = false;
  let last: Promise<void> = Promise.resolve();
  const keep = async () => {
    const next = await place();
    if (ended) return;
    for (const line of filesOf(shown, next)) say(line);
    shown = next;
  };
  const look = () => {
    last = last.then(keep).catch((error: Error) => say(error.message));
  };
  look();
  return {
    look,
    end() {
      ended = true;
    },
  };
}
