// Reads lessons from their folder. A lesson is Markdown. HTML comments in it are annotations, which contain the check,
// the hints and the calls of a step. A malformed lesson is rejected with its file and line.

import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { Expectation } from "../contracts/expectations.ts";
import type { Lesson, LessonBlock, LessonFile, LessonStep } from "../contracts/lesson.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { SandboxError } from "../kernel/errors.ts";
import { oneOf, type Static, type TSchema, Type, text } from "../schema/shapes.ts";
import { fieldErrors } from "../schema/validator.ts";
import { errorAt, filesIn, readJson, readText } from "../store/world/json-file.ts";

/** A comment such as `<!-- word: text -->`. `line` is the line where the text begins. */
export interface Comment {
  word: string;
  text: string;
  line: number;
}

export interface Section {
  /** The heading, including its # characters. */
  title: string;
  line: number;
  blocks: LessonBlock[];
  comments: Comment[];
}

const FENCE = /^```\s*(\w*)\s*$/;
const HEADING = /^(#{1,2}) +(.+?)\s*$/;
const COMMENT = /^\s*<!--\s*(?:([a-z]+):)?([\s\S]*?)-->\s*$/;

/** Splits a lesson into sections, which begin with headings of level 1 and 2. Rejects text before the first heading. */
function readMarkdown(file: string, text: string): Section[] {
  const lines = text.split(/\r?\n/);
  const sections: Section[] = [];
  let prose: string[] = [];
  const refuse = (index: number, message: string): never => {
    throw lessonError(file, index + 1, message);
  };
  const section = (index: number) =>
    sections.at(-1) ?? refuse(index, "a lesson begins with its title, as in # Paging.");
  const endProse = () => {
    const words = prose.join("\n").trim();
    if (words !== "") sections.at(-1)?.blocks.push({ kind: "prose", text: words });
    prose = [];
  };
  /** The index of the first line, from `from` on, that ends the block that begins at `begins`. */
  const findEnd = (begins: number, from: number, ends: (line: string) => boolean, what: string) => {
    const found = lines.findIndex((line, index) => index >= from && ends(line));
    return found === -1 ? refuse(begins, `${what} is never closed.`) : found;
  };
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] as string;
    const [, hashes, title = ""] = HEADING.exec(line) ?? [];
    const fence = FENCE.exec(line);
    if (hashes !== undefined) {
      endProse();
      sections.push({ title: `${hashes} ${title}`, line: index + 1, blocks: [], comments: [] });
    } else if (fence) {
      const end = findEnd(index, index + 1, (one) => one.startsWith("```"), "the fenced block that begins here");
      section(index);
      endProse();
      section(index).blocks.push({ kind: fence[1] || "text", text: lines.slice(index + 1, end).join("\n") });
      index = end;
    } else if (line.trimStart().startsWith("<!--")) {
      const end = findEnd(index, index, (one) => one.includes("-->"), "the comment that begins here");
      const comment = readComment(lines.slice(index, end + 1).join("\n"), index + 1);
      if (comment) section(index).comments.push(comment);
      index = end;
    } else {
      if (line.trim() !== "") section(index);
      prose.push(line);
    }
  }
  endProse();
  return sections;
}

/** Comments without a word are notes of the author and are ignored. */
function readComment(text: string, line: number): Comment | undefined {
  const [, word, rest = ""] = COMMENT.exec(text) ?? [];
  if (word === undefined) return undefined;
  const before = text.slice(0, text.indexOf(rest)) + (/^\s*/.exec(rest)?.[0] ?? "");
  return { word, text: rest.trim(), line: line + before.split("\n").length - 1 };
}

const LessonCall = Type.Object(
  {
    method: oneOf(["POST", "PUT", "PATCH", "DELETE"], "The method"),
    path: text("Under /v1, with the learner's key, or under /_sandbox", { pattern: "^/(v1|_sandbox)/" }),
    headers: Type.Optional(Type.Record(Type.String())),
    body: Type.Optional(Type.Record(Type.Unknown())),
  },
  { additionalProperties: false },
);

/** A call that the sandbox makes for a learner, with the learner's key and ids in place of the first merchant's. */
export type LessonCall = Static<typeof LessonCall>;

/** The parts of a step that learners do not see. */
export interface StepAnnotations {
  /** The expectations, all of which must hold at the same time. */
  check: Expectation[];
  hints: string[];
  /** Calls made when the learner reaches the step. */
  setup: LessonCall[];
  /** Calls made when the step is skipped, so that later steps find its results. */
  state: LessonCall[];
}

export interface ParsedLesson {
  lesson: Lesson;
  steps: StepAnnotations[];
}

/** Returns why a check is unusable; undefined if it is usable. */
export type CheckValidator = (check: Expectation[]) => string | undefined;

const ANNOTATIONS = ["check", "hint", "setup", "state", "file"];

async function readAnnotations(file: string, section: Section, validate: CheckValidator): Promise<StepAnnotations> {
  const commentsOf = (word: string) => section.comments.filter((comment) => comment.word === word);
  const unknown = section.comments.find(({ word }) => !ANNOTATIONS.includes(word));
  const hint = unknown && (didYouMean(unknown.word, ANNOTATIONS) || ` The annotations are ${ANNOTATIONS.join(", ")}.`);
  if (unknown) throw lessonError(file, unknown.line, `there is no annotation ${unknown.word}.${hint}`);
  const [check, second] = commentsOf("check");
  if (!check)
    throw lessonError(file, section.line, `the step "${section.title}" has no check: <!-- check: {"requests": …} -->.`);
  if (second) throw lessonError(file, second.line, "a step has one check; write several expectations as a list.");
  return {
    check: await readCheck(file, check, validate),
    hints: commentsOf("hint").map((hint) => hint.text),
    setup: await readCalls(file, commentsOf("setup"), "/_sandbox/"),
    state: await readCalls(file, commentsOf("state"), "/"),
  };
}

async function readCheck(file: string, comment: Comment, validate: CheckValidator): Promise<Expectation[]> {
  const { source, items: check } = await readItems(
    file,
    comment,
    Type.Array(Expectation, { minItems: 1 }),
    Expectation,
  );
  for (const [index, expectation] of check.entries()) {
    const place = Array.isArray(source.value) ? `/${index}` : "";
    const owner = merchantPointer(expectation);
    if (owner !== undefined)
      throw await errorAt(source, place + owner, "remove it: a check always applies to the learner's own merchant.");
  }
  const wrong = validate(check);
  if (wrong !== undefined) throw await errorAt(source, "", wrong);
  return check;
}

/** The JSON pointer to a merchant or key in a check, if it has one. */
function merchantPointer({ requests, sequence = [], never, deliveries, scenario }: Expectation): string | undefined {
  const matches: [string, object][] = [
    ["/requests/match", requests?.match ?? {}],
    ...sequence.map((match, index): [string, object] => [`/sequence/${index}`, match]),
    ["/never/match", never?.match ?? {}],
    ["/deliveries/match", deliveries?.match ?? {}],
    ["/scenario", scenario ?? {}],
  ];
  return matches.flatMap(([place, match]) =>
    ["merchant", "key"].flatMap((name) => (name in match ? [`${place}/${name}`] : [])),
  )[0];
}

async function readCalls(file: string, comments: readonly Comment[], prefix: string): Promise<LessonCall[]> {
  const calls: LessonCall[] = [];
  for (const comment of comments) {
    const { items } = await readItems(file, comment, Type.Array(LessonCall), LessonCall);
    const foreign = items.find(({ path }) => !path.startsWith(prefix));
    const problem =
      `a setup call must begin with ${prefix}: ` + `a call to ${foreign?.path} would count as the learner's own.`;
    if (foreign) throw lessonError(file, comment.line, problem);
    calls.push(...items);
  }
  return calls;
}

/** Reads an annotation that holds one item or a list, and validates it. */
async function readItems<S extends TSchema>(file: string, { text, line }: Comment, several: TSchema, one: S) {
  const source = await readJson(file, text, line);
  const isList = Array.isArray(source.value);
  const [wrong] = fieldErrors(isList ? several : one, source.value);
  if (wrong) throw await errorAt(source, wrong.pointer, wrong.message);
  return { source, items: (isList ? source.value : [source.value]) as Static<S>[] };
}

const lessonError = (file: string, line: number, message: string) =>
  new SandboxError(`${file}:${line}: ${message}`, "badFixture");

const NAME = /^(\d\d)-([a-z][a-z0-9]*(?:-[a-z0-9]+)*)\.md$/;
/** The folder of the files that learners work on: code/NN-name/start.mjs and solution.mjs. */
const CODE_FOLDER = "code";

export async function readLessons(folder: string, validate: CheckValidator): Promise<ParsedLesson[]> {
  return Promise.all(lessonFiles(folder).map((name) => readLesson(join(folder, name), validate)));
}

/** The names of the lesson files in a folder, in order. Fails if there are none. */
export const lessonFiles = (folder: string) =>
  filesIn(folder, NAME, "lesson", "A lesson is a file such as 01-first-call.md.");

export async function readLesson(path: string, validate: CheckValidator): Promise<ParsedLesson> {
  const [, number = "", name = ""] = NAME.exec(basename(path)) ?? [];
  if (number === "") throw lessonError(path, 1, "the file name of a lesson must look like 02-paging.md.");
  const [head, ...sections] = readMarkdown(path, readText(path));
  if (!head?.title.startsWith("# "))
    throw lessonError(path, head?.line ?? 1, "a lesson begins with its title, as in # Paging.");
  if (head.blocks.length === 0)
    throw lessonError(path, head.line, "write a paragraph below the title that says what is learned.");
  if (sections.length === 0) throw lessonError(path, head.line, "a lesson has steps, as in ## 1. Ask for a page.");
  const file = readLessonFile(join(path, "..", CODE_FOLDER, `${number}-${name}`), name);
  const steps: [LessonStep, StepAnnotations][] = [];
  for (const [index, section] of sections.entries()) {
    const annotations = await readAnnotations(path, section, validate);
    steps.push([readStep(path, section, index + 1, annotations, file), annotations]);
  }
  const about = head.blocks
    .map(({ kind, text }) => (kind === "prose" ? text : `\`\`\`${kind}\n${text}\n\`\`\``))
    .join("\n\n");
  const lesson = {
    name,
    number: Number(number),
    title: head.title.slice(2),
    about,
    steps: steps.map(([step]) => step),
    file,
  };
  return { lesson, steps: steps.map(([, annotations]) => annotations) };
}

function readStep(
  path: string,
  section: Section,
  number: number,
  { hints }: StepAnnotations,
  file: LessonFile | null,
): LessonStep {
  const { line, title, blocks, comments } = section;
  const [, written, words = ""] = /^## (\d+)\. (.+)$/.exec(title) ?? [];
  if (Number(written) !== number)
    throw lessonError(path, line, `this is step ${number}: write it as ## ${number}. Title of the step.`);
  if (!blocks.some(({ kind }) => kind === "prose"))
    throw lessonError(path, line, `step ${number} has no text: write what the reader should do.`);
  const commands = blocks.filter(({ kind }) => kind === "sh").map(({ text }) => text);
  const fileComment = comments.find(({ word }) => word === "file");
  const form = `<!-- file: solution --> is for a lesson that has ${CODE_FOLDER}/NN-name/start.mjs and solution.mjs.`;
  if (fileComment && (fileComment.text !== "solution" || file === null))
    throw lessonError(path, fileComment.line, form);
  return {
    number,
    title: words,
    blocks,
    command: commands.join("\n") || null,
    hints: hints.length,
    mends: fileComment !== undefined,
  };
}

function readLessonFile(folder: string, name: string): LessonFile | null {
  if (!existsSync(folder)) return null;
  const [start = "", solution = ""] = ["start.mjs", "solution.mjs"].map((file) => readText(join(folder, file)));
  return { name: `${name}.mjs`, start, solution };
}
