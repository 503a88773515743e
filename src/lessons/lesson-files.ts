// Lessons from their folder: each page held to its form, with file and line where one is wrong.

import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import type { LessonBlock, LessonFile, LessonStep } from "../contracts/lesson.ts";
import { SandboxError } from "../kernel/errors.ts";
import { readText } from "../store/world/json-file.ts";
import { type Behind, type CheckCritic, readBehind, refusal, type WrittenLesson } from "./lesson-annotations.ts";
import { readMarkdown, type Section } from "./markdown.ts";

const NAME = /^(\d\d)-([a-z][a-z0-9]*(?:-[a-z0-9]+)*)\.md$/;
/** Where the files are that learners work on: a folder for each lesson that has one. */
const CODE = "code";

/** Every lesson of a folder, in order. */
export async function readLessons(folder: string, critic: CheckCritic): Promise<WrittenLesson[]> {
  const files = lessonFiles(folder);
  return Promise.all(files.sort().map((name) => readLesson(join(folder, name), critic)));
}

/** The names of the files in which lessons are; a folder without any is refused. */
export function lessonFiles(folder: string): string[] {
  const remedy = "A lesson is a file such as 01-first-call.md.";
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => NAME.test(name));
  } catch (error) {
    throw new SandboxError(`Cannot read the folder ${folder}: ${(error as Error).message}. ${remedy}`, "badFixture");
  }
  if (names.length === 0) throw new SandboxError(`The folder ${folder} holds no lesson. ${remedy}`, "badFixture");
  return names;
}

export async function readLesson(path: string, critic: CheckCritic): Promise<WrittenLesson> {
  const [, number = "", name = ""] = NAME.exec(basename(path)) ?? [];
  if (number === "") throw refusal(path, 1, "a lesson's file is called like 02-paging.md.");
  const [head, ...sections] = readMarkdown(path, readText(path));
  if (!head?.title.startsWith("# ")) throw refusal(path, head?.line ?? 1, "a lesson begins with its title, as in # Paging.");
  if (head.blocks.length === 0) throw refusal(path, head.line, "say under the title, in a paragraph, what is learned.");
  if (sections.length === 0) throw refusal(path, head.line, "a lesson has steps, as in ## 1. Ask for a page.");
  const file = fileOf(join(path, "..", CODE, `${number}-${name}`), name);
  const steps: [LessonStep, Behind][] = [];
  for (const [index, section] of sections.entries()) {
    const behind = await readBehind(path, section, critic);
    steps.push([stepOf(path, section, index + 1, behind, file), behind]);
  }
  const about = head.blocks.map(asWritten).join("\n\n");
  const lesson = { name, number: Number(number), title: head.title.slice(2), about, steps: steps.map(([step]) => step), file };
  return { lesson, steps: steps.map(([, behind]) => behind) };
}

function stepOf(path: string, section: Section, number: number, { hints }: Behind, file: LessonFile | null): LessonStep {
  const { line, title, blocks, comments } = section;
  const [, written, words = ""] = /^## (\d+)\. (.+)$/.exec(title) ?? [];
  if (Number(written) !== number) throw refusal(path, line, `this is step ${number}: write it as ## ${number}. What is to be done.`);
  if (!blocks.some(({ kind }) => kind === "prose")) throw refusal(path, line, `step ${number} says nothing: tell the reader what to do.`);
  const commands = blocks.filter(({ kind }) => kind === "sh").map(({ text }) => text);
  const mending = comments.find(({ word }) => word === "file");
  if (mending && (mending.text !== "solution" || file === null))
    throw refusal(path, mending.line, `<!-- file: solution --> is for a lesson that has ${CODE}/NN-name/start.mjs and solution.mjs.`);
  return { number, title: words, blocks, command: commands.join("\n") || null, hints: hints.length, mends: mending !== undefined };
}

function fileOf(folder: string, name: string): LessonFile | null {
  if (!existsSync(folder)) return null;
  const [start = "", solution = ""] = ["start.mjs", "solution.mjs"].map((file) => readText(join(folder, file)));
  return { name: `${name}.mjs`, start, solution };
}

/** A block as it stands in Markdown. */
export const asWritten = ({ kind, text }: LessonBlock) => (kind === "prose" ? text : `\`\`\`${kind}\n${text}\n\`\`\``);
