// The file that a lesson works on, in the current folder. A file that the learner changed is never overwritten.

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { LessonFile } from "../../contracts/lesson.ts";
import type { LearnerPlace } from "./learner-client.ts";

/** Writes the initial file unless one exists. Returns a message. */
export function putStart({ name, start }: LessonFile): string {
  if (existsSync(name)) return `${name} already exists and was not changed.`;
  writeFileSync(name, start);
  return `${name} was created in this folder.`;
}

/** Writes the solution; the learner's file is renamed. Returns a message. */
export function putSolution({ name, solution }: LessonFile): string {
  const isOther = existsSync(name) && readFileSync(name, "utf8") !== solution;
  if (isOther) renameSync(name, `${name}.before`);
  writeFileSync(name, solution);
  return isOther ? `${name} now contains the solution; your version is ${name}.before.` : `${name} now contains the solution.`;
}

export const stepName = ({ lesson, step }: { lesson: string; step: number }) => `${lesson} ${step}`;

/** Writes the initial file when a lesson begins, and the solution when its step was skipped or prepared. Returns messages. */
export function updateFile(before: LearnerPlace | undefined, { learner, lesson }: LearnerPlace): string[] {
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
  /** Call after each change of the learner's place. */
  look(): void;
  end(): void;
}

/** Keeps the file of a learner up to date while the dashboard is open. */
export function keepFiles(place: () => Promise<LearnerPlace>, show: (text: string) => void): FileKeeper {
  let shown: LearnerPlace | undefined;
  let ended = false;
  let last: Promise<void> = Promise.resolve();
  const keep = async () => {
    const next = await place();
    if (ended) return;
    for (const line of updateFile(shown, next)) show(line);
    shown = next;
  };
  const look = () => {
    last = last.then(keep).catch((error: Error) => show(error.message));
  };
  look();
  return {
    look,
    end() {
      ended = true;
    },
  };
}
