// What the comments of a lesson may say: the check of a step, its hints, and what the tool does for whoever comes to it.

import { Expectation } from "../contracts/expectations.ts";
import type { Lesson } from "../contracts/lesson.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { ApiError, SandboxError } from "../kernel/errors.ts";
import { oneOf, type Static, type TSchema, Type, text } from "../schema/shapes.ts";
import { fieldErrors } from "../schema/validator.ts";
import { errorAt, type JsonFile, readJson } from "../store/world/json-file.ts";
import type { Comment, Section } from "./markdown.ts";

const WrittenCall = Type.Object(
  {
    method: oneOf(["POST", "PUT", "PATCH", "DELETE"], "The method"),
    path: text("Under /v1, with the learner's key, or under /_sandbox", { pattern: "^/(v1|_sandbox)/" }),
    headers: Type.Optional(Type.Record(Type.String())),
    body: Type.Optional(Type.Record(Type.Unknown())),
  },
  { additionalProperties: false },
);

/** A call that the tool makes for a learner; what is written of the first merchant is the learner's. */
export type WrittenCall = Static<typeof WrittenCall>;

/** What a step has that its page does not show. */
export interface Behind {
  /** All of it must hold at one moment. */
  check: Expectation[];
  hints: string[];
  /** Done when somebody comes to the step: what the step needs and the learner does not do. */
  setup: WrittenCall[];
  /** Done for whoever comes past the step without doing it: what it would have left. */
  state: WrittenCall[];
}

export interface WrittenLesson {
  lesson: Lesson;
  steps: Behind[];
}

/** Says why a check cannot be one; undefined where it can. */
export type CheckCritic = (check: Expectation[]) => string | undefined;

const WORDS = ["check", "hint", "setup", "state", "file"];

export async function readBehind(file: string, section: Section, critic: CheckCritic): Promise<Behind> {
  const of = (word: string) => section.comments.filter((comment) => comment.word === word);
  const unknown = section.comments.find(({ word }) => !WORDS.includes(word));
  if (unknown)
    throw refusal(file, unknown.line, `no comment of a lesson is called ${unknown.word}.${didYouMean(unknown.word, WORDS) || ` ${KNOWN}`}`);
  const [check, second] = of("check");
  if (!check) throw refusal(file, section.line, `the step "${section.title}" has no check: <!-- check: {"requests": …} -->.`);
  if (second) throw refusal(file, second.line, "a step has one check; write several expectations as a list.");
  return {
    check: await readCheck(file, check, critic),
    hints: of("hint").map((hint) => hint.text),
    setup: await readCalls(file, of("setup"), "/_sandbox/"),
    state: await readCalls(file, of("state"), "/"),
  };
}

const KNOWN = `There are ${WORDS.join(", ")}.`;

async function readCheck(file: string, comment: Comment, critic: CheckCritic): Promise<Expectation[]> {
  const source = await readJson(file, comment.text, comment.line);
  const check = await held(source, Type.Array(Expectation, { minItems: 1 }), Expectation);
  for (const [index, expectation] of check.entries()) {
    const place = Array.isArray(source.value) ? `/${index}` : "";
    const owner = ownerIn(expectation);
    if (owner !== undefined) throw await errorAt(source, place + owner, "leave it out: only what the learner did is looked at.");
  }
  const wrong = critic(check);
  if (wrong !== undefined) throw await errorAt(source, "", wrong);
  return check;
}

/** Where a check names somebody. */
function ownerIn({ requests, sequence = [], never, deliveries, scenario }: Expectation): string | undefined {
  const matches: [string, object][] = [
    ["/requests/match", requests?.match ?? {}],
    ...sequence.map((match, index): [string, object] => [`/sequence/${index}`, match]),
    ["/never/match", never?.match ?? {}],
    ["/deliveries/match", deliveries?.match ?? {}],
    ["/scenario", scenario ?? {}],
  ];
  return matches.flatMap(([place, match]) => ["merchant", "key"].flatMap((name) => (name in match ? [`${place}/${name}`] : [])))[0];
}

async function readCalls(file: string, comments: readonly Comment[], under: string): Promise<WrittenCall[]> {
  const calls: WrittenCall[] = [];
  for (const comment of comments) {
    const source = await readJson(file, comment.text, comment.line);
    for (const call of await held(source, Type.Array(WrittenCall), WrittenCall)) {
      if (!call.path.startsWith(under))
        throw refusal(
          file,
          comment.line,
          `what is done when a step begins goes to ${under}: a call to ${call.path} would pass for the learner's.`,
        );
      calls.push(call);
    }
  }
  return calls;
}

/** A value that may be one, or a list of them. */
async function held<S extends TSchema>(source: JsonFile, several: TSchema, one: S): Promise<Static<S>[]> {
  const isList = Array.isArray(source.value);
  const [wrong] = fieldErrors(isList ? several : one, source.value);
  if (wrong) throw await errorAt(source, wrong.pointer, wrong.message);
  return (isList ? source.value : [source.value]) as Static<S>[];
}

export const refusal = (file: string, line: number, message: string) => new SandboxError(`${file}:${line}: ${message}`, "badFixture");

/** What a check is refused with when it is planned, as its author is told of it. */
export function criticOf(holdsAlready: CheckHolds): CheckCritic {
  return (check) => {
    try {
      return holdsAlready(check) ? "this holds before anything was done: the step would tick by itself." : undefined;
    } catch (error) {
      if (error instanceof ApiError) return error.message;
      throw error;
    }
  };
}

type CheckHolds = (check: Expectation[]) => boolean;
