// The control operations for lessons and learners. With their API key, learners may call the operations about
// themselves.

import { endpointFactory } from "../areas/declare/operation.ts";
import { type LearnerState, Lesson, ShownLearner } from "../contracts/lesson.ts";
import { currentStepText } from "../contracts/lesson-text.ts";
import { isoTime } from "../kernel/clock.ts";
import { fail } from "../kernel/errors.ts";
import { Document } from "../kernel/reply-bodies.ts";
import type { LessonService } from "../lessons/index.ts";
import { oneOf, type Static, Type, text } from "../schema/shapes.ts";
import type { Stores } from "../store/stores.ts";
import { spanOf, wholeList, wholeListOf } from "./given-values.ts";
import type { About } from "./overview.ts";

export interface LessonParts extends Pick<Stores, "tenants"> {
  about: Pick<About, "url">;
  lessons: Omit<LessonService, "onEvent" | "reset" | "stop">;
}

const endpoint = endpointFactory<LessonParts>("Lessons");

export const showLearner = (state: LearnerState): Static<typeof ShownLearner> => ({
  ...state,
  since: isoTime(state.since),
  finishedSteps: state.finishedSteps.map((step) => ({ ...step, at: isoTime(step.at) })),
});

export const learnerAccess = {
  apiKey: Type.String({
    description:
      "The learner's API key: for calls of the service, and for those of the control API that learners may make",
  }),
  baseUrl: Type.String(),
};

export const accessOf = ({ tenants, about }: Omit<LessonParts, "lessons">, id: string) => ({
  apiKey: tenants.keyOf(id),
  baseUrl: `${about.url()}/v1`,
});

export const textFormat = {
  format: Type.Optional(
    oneOf(["json", "text"], "The format of the response; `text` is for a plain terminal (default: json)"),
  ),
};
export const textDocuments = { text: "text/plain" };
export const plainText = (words: string) => new Document(textDocuments.text, `${words}\n`);

/** The learner's step as text, with the commands that follow. */
export async function placeText(context: LessonParts, learner: LearnerState): Promise<string> {
  const lesson = learner.lesson === null ? null : await context.lessons.find(learner.lesson, learner.id);
  const step = lesson ? currentStepText(lesson, learner) : "No lesson has begun yet.";
  return `${step}\n\n${commandList(context, learner, lesson)}`;
}

function commandList({ tenants, about }: LessonParts, { id, step, next }: LearnerState, lesson: Lesson | null): string {
  const curl = `curl -s -H 'Authorization: Bearer ${tenants.keyOf(id)}'`;
  const url = `${about.url()}/_sandbox`;
  const own = `${url}/learners/${id}`;
  const file = lesson?.file
    ? [`the file ${lesson.file.name}:  ${curl} '${url}/lessons/${lesson.name}?format=file' > ${lesson.file.name}`]
    : [];
  const another = `another lesson:  ${curl} --json '{"name": "${next ?? "first-call"}"}' '${own}/lesson?format=text'`;
  return [
    "--",
    ...file,
    ...(step === null ? [another] : []),
    `where you are:  ${curl} '${own}?format=text'`,
    `a hint:  ${curl} -X POST '${own}/hint?format=text'`,
    `skip this step:  ${curl} -X POST '${own}/skip?format=text'`,
  ].join("\n");
}

const learnerReply = async (context: LessonParts, learner: LearnerState, format: string | undefined) =>
  format === "text" ? plainText(await placeText(context, learner)) : showLearner(learner);

export const learnerName = text("The learner's name, which must be unique", {
  minLength: 1,
  maxLength: 60,
  pattern: "^[^\\p{Cc}\\p{Cf}]+$",
});

const ownLearner = { access: { learner: { param: "id" } }, exampleParams: { id: "mer_lodge" } } as const;
const learnerQuery = Type.Object(textFormat);

const listLessons = endpoint({
  id: "lessons.list",
  method: "GET",
  path: "/lessons",
  summary: "List the lessons",
  reply: wholeListOf(Lesson),
  handle: async ({ lessons }) => wholeList([...(await lessons.list())]),
});

const getLesson = endpoint({
  id: "lessons.get",
  method: "GET",
  path: "/lessons/{name}",
  exampleParams: { name: "first-call" },
  summary: "Get a lesson, with the commands of one learner if requested",
  access: { learner: { query: "learner" } },
  query: Type.Object({
    learner: Type.Optional(
      text(
        "The id of a learner whose URL, API key and merchant are filled in (default: those of the first merchant, on port 4747)",
      ),
    ),
    format: Type.Optional(
      oneOf(
        ["json", "file"],
        "The format of the response; `file` is the initial file that the learner works on (default: json)",
      ),
    ),
  }),
  reply: Lesson,
  documents: { file: "text/plain" },
  errors: ["resource_not_found"],
  async handle({ lessons, params, query }) {
    const lesson = await lessons.find(params.name, query.learner);
    if (query.format !== "file") return lesson;
    return lesson.file
      ? new Document("text/plain", lesson.file.start)
      : fail("resource_not_found", `The lesson ${lesson.name} has no file.`);
  },
});

const listLearners = endpoint({
  id: "learners.list",
  method: "GET",
  path: "/learners",
  summary: "List the learners with their progress",
  access: { learner: { query: "merchant" } },
  query: Type.Object({ merchant: Type.Optional(text("Only the learner with this merchant")) }),
  reply: wholeListOf(ShownLearner, "The learners, in the order in which they joined"),
  async handle({ lessons, query: { merchant } }) {
    const learners = await lessons.learners();
    return wholeList(learners.filter(({ id }) => merchant === undefined || id === merchant).map(showLearner));
  },
});

const joinLessons = endpoint({
  id: "learners.join",
  method: "POST",
  path: "/learners",
  summary: "Add a learner",
  description:
    "With a name, the learner gets a new merchant with the records of the first fixture. Without a name, the learner uses the first merchant; if a learner already uses it, that learner is returned.",
  body: Type.Object({
    name: Type.Optional(learnerName),
    merchant: Type.Optional(text("The id of an existing merchant to use instead of a new one")),
    hintAfter: Type.Optional(
      text(
        "Real time at a step before a hint is shown; a fix that does not work shows one within 8s; 0s turns both off (default: 90s)",
      ),
    ),
  }),
  example: { name: "Ada" },
  reply: Type.Object({ learner: ShownLearner, ...learnerAccess }),
  errors: ["resource_not_found", "already_exists", "invalid_state"],
  async handle({ body: { name, merchant, hintAfter }, ...context }) {
    const learner = await context.lessons.join({
      name,
      merchant,
      hintAfter: spanOf("hintAfter", hintAfter, { to: "1h" }),
    });
    return { learner: showLearner(learner), ...accessOf(context, learner.id) };
  },
});

const getLearner = endpoint({
  id: "learners.get",
  method: "GET",
  path: "/learners/{id}",
  ...ownLearner,
  summary: "Get a learner, or wait for a change",
  query: Type.Object({
    ...textFormat,
    after: Type.Optional(
      Type.Integer({ description: "Wait until the learner's version is newer than this one", minimum: 0 }),
    ),
    within: Type.Optional(text("How long to wait, at most an hour (default: 25s)")),
  }),
  reply: ShownLearner,
  documents: textDocuments,
  errors: ["resource_not_found"],
  async handle({ params: { id }, query: { format, after, within }, ...context }) {
    const { lessons, gone } = context;
    const wait = spanOf("within", within, { to: "1h" }) ?? 25_000;
    return learnerReply(
      context,
      await (after === undefined ? lessons.learner(id) : lessons.waitForNewer(id, after, wait, gone)),
      format,
    );
  },
});

const beginLesson = endpoint({
  id: "learners.begin",
  method: "POST",
  path: "/learners/{id}/lesson",
  ...ownLearner,
  summary: "Begin a lesson, at its start or at one of its steps",
  query: learnerQuery,
  body: Type.Object({
    name: text("The name or number of the lesson"),
    checkpoint: Type.Optional(
      Type.Integer({ description: "Begin at this step; the results of the steps before it are created", minimum: 1 }),
    ),
  }),
  example: { name: "first-call" },
  reply: ShownLearner,
  documents: textDocuments,
  errors: ["resource_not_found"],
  handle: async ({ params, query, body: { name = "", checkpoint }, ...context }) =>
    learnerReply(context, await context.lessons.begin(params.id, name, checkpoint), query.format),
});

const skipStep = endpoint({
  id: "learners.skip",
  method: "POST",
  path: "/learners/{id}/skip",
  ...ownLearner,
  summary: "Skip the current step of a learner",
  description: "The results of the step are created, so that the following steps can be done.",
  query: learnerQuery,
  reply: ShownLearner,
  documents: textDocuments,
  errors: ["resource_not_found", "invalid_state"],
  handle: async ({ params, query, ...context }) =>
    learnerReply(context, await context.lessons.skip(params.id), query.format),
});

const giveHint = endpoint({
  id: "learners.hint",
  method: "POST",
  path: "/learners/{id}/hint",
  ...ownLearner,
  summary: "Show the next hint of the current step, or the last one again",
  query: learnerQuery,
  reply: ShownLearner,
  documents: textDocuments,
  errors: ["resource_not_found"],
  async handle({ lessons, params, query }) {
    const learner = await lessons.hint(params.id);
    return query.format === "text" ? plainText(learner.hint ?? "This step has no hint.") : showLearner(learner);
  },
});

const removeLearner = endpoint({
  id: "learners.remove",
  method: "DELETE",
  path: "/learners/{id}",
  exampleParams: ownLearner.exampleParams,
  summary: "Remove a learner and all progress; the merchant is kept",
  reply: ShownLearner,
  errors: ["resource_not_found"],
  handle: async ({ lessons, params }) => showLearner(await lessons.leave(params.id)),
});

export const operations = [
  listLessons,
  getLesson,
  listLearners,
  joinLessons,
  getLearner,
  beginLesson,
  skipStep,
  giveHint,
  removeLearner,
];
