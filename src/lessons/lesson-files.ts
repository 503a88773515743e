// Reads lessons from their folder. A malformed lesson is refused with its file and line.

import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import type { LessonBlock, LessonFile, LessonStep } from "../contracts/lesson.ts";
import { filesIn, readText } from "../store/world/json-file.ts";
import { type CheckValidator, lessonError, type ParsedLesson, readAnnotations, type StepAnnotations } from "./lesson-annotations.ts";
import { readMarkdown, type Section } from "./markdown.ts";

const NAME = /^(\d\d)-([a-z][a-z0-9]*(?:-[a-z0-9]+)*)\.md$/;
/** The folder of the files that learners work on: code/NN-name/start.mjs and solution.mjs. */
const CODE_FOLDER = "code";

/** The lessons of a folder, in order. */
export async function readLessons(folder: string, validate: CheckValidator): Promise<ParsedLesson[]> {
  return Promise.all(lessonFiles(folder).map((name) => readLesson(join(folder, name), validate)));
}

/** The names of the lesson files in a folder, in order. Fails if there are none. */
export const lessonFiles = (folder: string) => filesIn(folder, NAME, "lesson", "A lesson is a file such as 01-first-call.md.");

export async function readLesson(path: string, validate: CheckValidator): Promise<ParsedLesson> {
  const [, number = "", name = ""] = NAME.exec(basename(path)) ?? [];
  if (number === "") throw lessonError(path, 1, "the file name of a lesson must look like 02-paging.md.");
  const [head, ...sections] = readMarkdown(path, readText(path));
  if (!head?.title.startsWith("# ")) throw lessonError(path, head?.line ?? 1, "a lesson begins with its title, as in # Paging.");
  if (head.blocks.length === 0) throw lessonError(path, head.line, "write a paragraph below the title that says what is learned.");
  if (sections.length === 0) throw lessonError(path, head.line, "a lesson has steps, as in ## 1. Ask for a page.");
  const file = readLessonFile(join(path, "..", CODE_FOLDER, `${number}-${name}`), name);
  const steps: [LessonStep, StepAnnotations][] = [];
  for (const [index, section] of sections.entries()) {
    const annotations = await readAnnotations(path, section, validate);
    steps.push([readStep(path, section, index + 1, annotations, file), annotations]);
  }
  const about = head.blocks.map(blockMarkdown).join("\n\n");
  const lesson = { name, number: Number(number), title: head.title.slice(2), about, steps: steps.map(([step]) => step), file };
  return { lesson, steps: steps.map(([, annotations]) => annotations) };
}

function readStep(path: string, section: Section, number: number, { hints }: StepAnnotations, file: LessonFile | null): LessonStep {
  const { line, title, blocks, comments } = section;
  const [, written, words = ""] = /^## (\d+)\. (.+)$/.exec(title) ?? [];
  if (Number(written) !== number) throw lessonError(path, line, `this is step ${number}: write it as ## ${number}. Title of the step.`);
  if (!blocks.some(({ kind }) => kind === "prose"))
    throw lessonError(path, line, `step ${number} has no text: write what the reader should do.`);
  const commands = blocks.filter(({ kind }) => kind === "sh").map(({ text }) => text);
  const fileComment = comments.find(({ word }) => word === "file");
  if (fileComment && (fileComment.text !== "solution" || file === null))
    throw lessonError(
      path,
      fileComment.line,
      `<!-- file: solution --> is for a lesson that has ${CODE_FOLDER}/NN-name/start.mjs and solution.mjs.`,
    );
  return { number, title: words, blocks, command: commands.join("\n") || null, hints: hints.length, mends: fileComment !== undefined };
}

function readLessonFile(folder: string, name: string): LessonFile | null {
  if (!existsSync(folder)) return null;
  const [start = "", solution = ""] = ["start.mjs", "solution.mjs"].map((file) => readText(join(folder, file)));
  return { name: `${name}.mjs`, start, solution };
}

/** The Markdown of a block. */
const blockMarkdown = ({ kind, text }: LessonBlock) => (kind === "prose" ? text : `\`\`\`${kind}\n${text}\n\`\`\``);
