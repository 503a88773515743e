// Writes a lesson's file in the current folder. Lessons are not trusted, so this program creates and renames files, but
// never overwrites one.

import { closeSync, constants, lstatSync, openSync, readSync, renameSync, writeFileSync } from "node:fs";
import type { LessonFile } from "../../contracts/lesson.ts";
import type { LearnerPlace } from "./learner-client.ts";

/** The first line of each file that this program writes. A file without this line is the user's own. */
const markOf = (lesson: string) =>
  `// Written by merchant-sandbox for the lesson ${lesson}: skipping a step may replace it and keep your version.\n`;

const hasCode = (error: unknown, ...codes: string[]) => codes.includes((error as NodeJS.ErrnoException).code ?? "");

/** Creates a file. Returns false if the name exists, even as a symbolic link, which O_EXCL does not follow. */
function createFile(name: string, text: string): boolean {
  try {
    writeFileSync(name, text, { flag: "wx" });
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
}

/** The first bytes of a regular file; undefined if the name is missing, unreadable or not a regular file. */
function beginningOf(name: string, length: number): string | undefined {
  try {
    if (!lstatSync(name).isFile()) return undefined;
    // Windows has no O_NOFOLLOW.
    const fd = openSync(name, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      const bytes = Buffer.alloc(length);
      return bytes.toString("utf8", 0, readSync(fd, bytes));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (hasCode(error, "ENOENT", "EACCES", "ELOOP")) return undefined;
    throw error;
  }
}

/** Writes the initial file unless one exists. Returns a message. */
function putStart(lesson: string, { name, start }: LessonFile): string {
  const isNew = createFile(name, markOf(lesson) + start);
  return isNew ? `${name} was created in this folder.` : `${name} already exists and was not changed.`;
}

/**
 * Writes the solution; returns a message. Renames an existing file that this lesson wrote. Leaves the user's own file
 * unchanged.
 */
function putSolution(lesson: string, { name, solution }: LessonFile): string {
  const mark = markOf(lesson);
  const text = mark + solution;
  if (createFile(name, text)) return `${name} now contains the solution.`;
  const length = Buffer.byteLength(text);
  const found = beginningOf(name, length + 1);
  if (found === text) return `${name} already contains the solution.`;
  if (!found?.startsWith(mark)) return putSolutionBeside(name, text);
  const kept = keptName(name);
  renameSync(name, kept);
  if (!createFile(name, text)) throw new Error(`another program created it again; your version is ${kept}`);
  return `${name} now contains the solution; your version is ${kept}.`;
}

function putSolutionBeside(name: string, text: string): string {
  const beside = name.replace(/\.mjs$/, ".solution.mjs");
  const words = `${name} was not written by this lesson and was not changed`;
  return createFile(beside, text) ? `${words}; the solution is ${beside}.` : `${words}; ${beside} exists already.`;
}

/** The first unused name of `paging.mjs.before`, `paging.mjs.before-2`… */
function keptName(name: string): string {
  for (let number = 1; ; number++) {
    const kept = `${name}.before${number === 1 ? "" : `-${number}`}`;
    if (lstatSync(kept, { throwIfNoEntry: false }) === undefined) return kept;
  }
}

export const stepName = ({ lesson, step }: { lesson: string; step: number }) => `${lesson} ${step}`;

function putFile(lesson: string, file: LessonFile, put: typeof putStart): string {
  try {
    return put(lesson, file);
  } catch (error) {
    return `The lesson's file ${file.name} was not written: ${(error as Error).message}.`;
  }
}

/** Writes the initial file of a lesson, and the solution of a step that was skipped or prepared. */
export function updateFile(before: LearnerPlace | undefined, { learner, lesson }: LearnerPlace): string[] {
  if (!lesson?.file) return [];
  const isSame = before?.learner.lesson === learner.lesson;
  const known = new Set(isSame ? before?.learner.finishedSteps.map(stepName) : []);
  const isPast = learner.finishedSteps.some(
    (one) =>
      one.lesson === lesson.name &&
      one.how !== "completed" &&
      lesson.steps[one.step - 1]?.mends &&
      !known.has(stepName(one)),
  );
  if (isSame && !isPast) return [];
  return [putFile(lesson.name, lesson.file, isPast ? putSolution : putStart)];
}

export type FileKeeper = ReturnType<typeof keepFiles>;

/** Keeps the file of a learner up to date while the dashboard is open. */
export function keepFiles(place: () => Promise<LearnerPlace>, show: (text: string) => void) {
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
    /** Call when the learner moves to another step. */
    look,
    end() {
      ended = true;
    },
  };
}
