// The annotations of a lesson, written as HTML comments: the check of a step, its hints, and the calls that prepare or replace it.

import { Expectation } from "../contracts/expectations.ts";
import type { Lesson } from "../contracts/lesson.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { ApiError, SandboxError } from "../kernel/errors.ts";
import { oneOf, type Static, type TSchema, Type, text } from "../schema/shapes.ts";
import { fieldErrors } from "../schema/validator.ts";
import { errorAt, readJson } from "../store/world/json-file.ts";
import type { Comment, Section } from "./markdown.ts";

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

/** The parts of a step that readers do not see. */
export interface StepAnnotations {
  /** The expectations, all of which must hold at the same time. */
  check: Expectation[];
  hints: string[];
  /** Calls made when the learner reaches the step. */
  setup: LessonCall[];
  /** Calls made instead of the step when it is skipped, so that later steps find its results. */
  state: LessonCall[];
}

export interface ParsedLesson {
  lesson: Lesson;
  steps: StepAnnotations[];
}

/** Returns why a check is unusable; undefined if it is usable. */
export type CheckValidator = (check: Expectation[]) => string | undefined;

const ANNOTATIONS = ["check", "hint", "setup", "state", "file"];

export async function readAnnotations(file: string, section: Section, validate: CheckValidator): Promise<StepAnnotations> {
  const commentsOf = (word: string) => section.comments.filter((comment) => comment.word === word);
  const unknown = section.comments.find(({ word }) => !ANNOTATIONS.includes(word));
  if (unknown)
    throw lessonError(
      file,
      unknown.line,
      `there is no annotation ${unknown.word}.${didYouMean(unknown.word, ANNOTATIONS) || ` ${ANNOTATION_LIST}`}`,
    );
  const [check, second] = commentsOf("check");
  if (!check) throw lessonError(file, section.line, `the step "${section.title}" has no check: <!-- check: {"requests": …} -->.`);
  if (second) throw lessonError(file, second.line, "a step has one check; write several expectations as a list.");
  return {
    check: await readCheck(file, check, validate),
    hints: commentsOf("hint").map((hint) => hint.text),
    setup: await readCalls(file, commentsOf("setup"), "/_sandbox/"),
    state: await readCalls(file, commentsOf("state"), "/"),
  };
}

const ANNOTATION_LIST = `The annotations are ${ANNOTATIONS.join(", ")}.`;

async function readCheck(file: string, comment: Comment, validate: CheckValidator): Promise<Expectation[]> {
  const { source, items: check } = await readItems(file, comment, Type.Array(Expectation, { minItems: 1 }), Expectation);
  for (const [index, expectation] of check.entries()) {
    const place = Array.isArray(source.value) ? `/${index}` : "";
    const owner = merchantPointer(expectation);
    if (owner !== undefined) throw await errorAt(source, place + owner, "remove it: a check always applies to the learner's own merchant.");
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
  return matches.flatMap(([place, match]) => ["merchant", "key"].flatMap((name) => (name in match ? [`${place}/${name}`] : [])))[0];
}

async function readCalls(file: string, comments: readonly Comment[], prefix: string): Promise<LessonCall[]> {
  const calls: LessonCall[] = [];
  for (const comment of comments) {
    const { items } = await readItems(file, comment, Type.Array(LessonCall), LessonCall);
    for (const call of items) {
      if (!call.path.startsWith(prefix))
        throw lessonError(
          file,
          comment.line,
          `a setup call must begin with ${prefix}: a call to ${call.path} would count as the learner's own.`,
        );
      calls.push(call);
    }
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

export const lessonError = (file: string, line: number, message: string) => new SandboxError(`${file}:${line}: ${message}`, "badFixture");

/** Refuses checks that the verifier cannot plan, and checks that hold before the learner did anything. */
export function checkValidator(holdsNow: CheckHolds): CheckValidator {
  return (check) => {
    try {
      return holdsNow(check) ? "this already holds before the learner did anything: the step would tick by itself." : undefined;
    } catch (error) {
      if (error instanceof ApiError) return error.message;
      throw error;
    }
  };
}

type CheckHolds = (check: Expectation[]) => boolean;
