// The file that a lesson works on, put where the learner is. What somebody wrote is never lost.

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { LessonFile } from "../kernel/lesson.ts";

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
