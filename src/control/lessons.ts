// The control operations for lessons and learners.

import { endpointFactory } from "../areas/declare/operation.ts";
import { type LearnerState, Lesson, ShownLearner } from "../contracts/lesson.ts";
import { isoTime } from "../kernel/clock.ts";
import type { LessonService } from "../lessons/index.ts";
import { type Static, Type, text } from "../schema/shapes.ts";
import type { Stores } from "../store/stores.ts";
import { spanOf, wholeList, wholeListOf } from "./given-values.ts";
import type { About } from "./overview.ts";

interface LessonParts extends Pick<Stores, "tenants"> {
  about: Pick<About, "url">;
  lessons: Omit<LessonService, "onEvent" | "reset" | "stop">;
}

const endpoint = endpointFactory<LessonParts>("Lessons");

const showLearner = (state: LearnerState): Static<typeof ShownLearner> => ({
  ...state,
  since: isoTime(state.since),
  finishedSteps: state.finishedSteps.map((step) => ({ ...step, at: isoTime(step.at) })),
});

const learnerName = text("The learner's name, which must be unique", {
  minLength: 1,
  maxLength: 60,
  pattern: "^[^\\p{Cc}\\p{Cf}]+$",
});

const exampleParams = { id: "mer_lodge" };

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
  query: Type.Object({
    learner: Type.Optional(
      text(
        "The id of a learner whose URL, API key and merchant are filled in (default: " +
          "the first merchant, on port 4747)",
      ),
    ),
  }),
  reply: Lesson,
  errors: ["resource_not_found"],
  handle: ({ lessons, params, query }) => lessons.find(params.name, query.learner),
});

const listLearners = endpoint({
  id: "learners.list",
  method: "GET",
  path: "/learners",
  summary: "List the learners with their progress",
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
    "With a name, the learner gets a new merchant with the records of the first fixture. " +
    "Without a name, the learner uses the first merchant; if a learner already uses it, that learner is returned.",
  body: Type.Object({
    name: Type.Optional(learnerName),
    merchant: Type.Optional(text("The id of an existing merchant to use instead of a new one")),
    hintAfter: Type.Optional(
      text(
        "Real time at a step after which a hint is shown. A fix that does not work shows a hint within 8s. " +
          "0s turns off both kinds of hints (default: 90s)",
      ),
    ),
  }),
  example: { name: "Ada" },
  reply: Type.Object({
    learner: ShownLearner,
    apiKey: Type.String({ description: "The API key of the learner's merchant" }),
    baseUrl: Type.String(),
  }),
  errors: ["resource_not_found", "already_exists", "invalid_state"],
  async handle({ body: { name, merchant, hintAfter }, lessons, tenants, about }) {
    const learner = await lessons.join({
      name,
      merchant,
      hintAfter: spanOf("hintAfter", hintAfter, { to: "1h" }),
    });
    return { learner: showLearner(learner), apiKey: tenants.keyOf(learner.id), baseUrl: `${about.url()}/v1` };
  },
});

const getLearner = endpoint({
  id: "learners.get",
  method: "GET",
  path: "/learners/{id}",
  exampleParams,
  summary: "Get a learner, or wait for a change",
  query: Type.Object({
    after: Type.Optional(
      Type.Integer({ description: "Wait until the learner's version is newer than this one", minimum: 0 }),
    ),
    within: Type.Optional(text("How long to wait, at most an hour (default: 25s)")),
  }),
  reply: ShownLearner,
  errors: ["resource_not_found"],
  async handle({ params: { id }, query: { after, within }, lessons, gone }) {
    const wait = spanOf("within", within, { to: "1h" }) ?? 25_000;
    return showLearner(await (after === undefined ? lessons.learner(id) : lessons.waitForNewer(id, after, wait, gone)));
  },
});

const beginLesson = endpoint({
  id: "learners.begin",
  method: "POST",
  path: "/learners/{id}/lesson",
  exampleParams,
  summary: "Begin a lesson, at its start or at one of its steps",
  body: Type.Object({
    name: text("The name or number of the lesson"),
    step: Type.Optional(
      Type.Integer({ description: "Begin at this step; the results of the steps before it are created", minimum: 1 }),
    ),
  }),
  example: { name: "first-call" },
  reply: ShownLearner,
  errors: ["resource_not_found"],
  handle: async ({ params, body: { name = "", step }, lessons }) =>
    showLearner(await lessons.begin(params.id, name, step)),
});

const skipStep = endpoint({
  id: "learners.skip",
  method: "POST",
  path: "/learners/{id}/skip",
  exampleParams,
  summary: "Skip the current step of a learner",
  description: "The results of the step are created, so that the following steps can be done.",
  reply: ShownLearner,
  errors: ["resource_not_found", "invalid_state"],
  handle: async ({ params, lessons }) => showLearner(await lessons.skip(params.id)),
});

const giveHint = endpoint({
  id: "learners.hint",
  method: "POST",
  path: "/learners/{id}/hint",
  exampleParams,
  summary: "Show the next hint of the current step, or the last one again",
  reply: ShownLearner,
  errors: ["resource_not_found"],
  handle: async ({ lessons, params }) => showLearner(await lessons.hint(params.id)),
});

const removeLearner = endpoint({
  id: "learners.remove",
  method: "DELETE",
  path: "/learners/{id}",
  exampleParams,
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
