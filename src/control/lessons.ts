// The control operations for lessons and learners.

import { type LearnerState, Lesson, ShownLearner } from "../contracts/lesson.ts";
import { isoTime } from "../kernel/clock.ts";
import { tryParseDuration } from "../kernel/duration.ts";
import { fail } from "../kernel/errors.ts";
import { oneOf, type Static, Type, text } from "../schema/shapes.ts";
import { type ControlContext, endpoint } from "./control-context.ts";

export const shownLearner = (state: LearnerState): Static<typeof ShownLearner> => ({
  ...state,
  since: isoTime(state.since),
  left: state.left.map((left) => ({ ...left, at: isoTime(left.at) })),
});

const LearnerWithKey = Type.Object({ learner: ShownLearner, apiKey: Type.String(), baseUrl: Type.String() });

export const LearnerList = Type.Object({
  object: oneOf(["list"], "Always `list`"),
  data: Type.Array(ShownLearner, { description: "The learners, in the order in which they joined" }),
});

/** The API key and base URL of a learner. */
export const learnerAccess = ({ tenants, about }: Pick<ControlContext, "tenants" | "about">, id: string) => ({
  apiKey: tenants.keyOf(id),
  baseUrl: `${about.url()}/v1`,
});

export const learnerName = text("The learner's name, which must be unique", {
  minLength: 1,
  maxLength: 60,
  pattern: "^[^\\p{Cc}\\p{Cf}]+$",
});

export const lessonChoice = {
  name: text("The name or number of the lesson"),
  checkpoint: Type.Optional(
    Type.Integer({ description: "Begin at this step; the results of the steps before it are created", minimum: 1 }),
  ),
};

const EXAMPLE_LEARNER = { exampleParams: { id: "mer_lodge" } };

export const listLessons = endpoint({
  id: "lessons.list",
  area: "Lessons",
  method: "GET",
  path: "/lessons",
  summary: "List the lessons",
  reply: Type.Object({ object: oneOf(["list"], "Always `list`"), data: Type.Array(Lesson) }),
  errors: ["validation_failed"],
  handle: async ({ lessons }) => ({ object: "list" as const, data: [...(await lessons.list())] }),
});

export const showLesson = endpoint({
  id: "lessons.get",
  area: "Lessons",
  method: "GET",
  path: "/lessons/{name}",
  exampleParams: { name: "first-call" },
  summary: "Get a lesson, with the commands of one learner if requested",
  query: Type.Object({
    learner: Type.Optional(
      text("The id of a learner whose URL, API key and merchant are filled in (default: those of the first merchant, on port 4747)"),
    ),
  }),
  reply: Lesson,
  errors: ["validation_failed", "resource_not_found"],
  handle: async ({ lessons, params, query }) => await lessons.find(params.name, query.learner),
});

export const listLearners = endpoint({
  id: "learners.list",
  area: "Lessons",
  method: "GET",
  path: "/learners",
  summary: "List the learners with their progress",
  reply: LearnerList,
  errors: ["validation_failed"],
  handle: async ({ lessons }) => ({ object: "list" as const, data: (await lessons.learners()).map(shownLearner) }),
});

export const joinLessons = endpoint({
  id: "learners.join",
  area: "Lessons",
  method: "POST",
  path: "/learners",
  summary: "Add a learner",
  description:
    "With a name, the learner gets a new merchant with the records of the first fixture. Without a name, the learner uses the first merchant; if a learner already uses it, that learner is returned.",
  body: Type.Object({
    name: Type.Optional(learnerName),
    merchant: Type.Optional(text("The id of an existing merchant to use instead of a new one")),
    hintAfter: Type.Optional(text("Real time at a step before a hint is shown automatically; 0s for never (default: 90s)")),
  }),
  example: { name: "Ada" },
  reply: LearnerWithKey,
  errors: ["validation_failed", "resource_not_found", "already_exists", "invalid_state"],
  async handle({ body: { name, merchant, hintAfter }, ...context }) {
    const learner = await context.lessons.join({ name, merchant, hintAfter: parseWait("hintAfter", hintAfter) });
    return { learner: shownLearner(learner), ...learnerAccess(context, learner.id) };
  },
});

/** Parses a duration of up to an hour into milliseconds. */
export function parseWait(field: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const span = tryParseDuration(given);
  if (span !== undefined && span <= 3_600_000) return span;
  return fail("validation_failed", `${field} must be a span such as 90s, an hour at most; received ${JSON.stringify(given)}.`);
}

export const showLearner = endpoint({
  id: "learners.get",
  area: "Lessons",
  method: "GET",
  path: "/learners/{id}",
  ...EXAMPLE_LEARNER,
  summary: "Get a learner",
  reply: ShownLearner,
  errors: ["resource_not_found"],
  handle: async ({ lessons, params }) => shownLearner(await lessons.learner(params.id)),
});

export const beginLesson = endpoint({
  id: "learners.begin",
  area: "Lessons",
  method: "POST",
  path: "/learners/{id}/lesson",
  ...EXAMPLE_LEARNER,
  summary: "Begin a lesson, at its start or at one of its steps",
  body: Type.Object(lessonChoice),
  example: { name: "first-call" },
  reply: ShownLearner,
  errors: ["validation_failed", "resource_not_found"],
  handle: async ({ lessons, params, body: { name = "", checkpoint } }) => shownLearner(await lessons.begin(params.id, name, checkpoint)),
});

export const skipStep = endpoint({
  id: "learners.skip",
  area: "Lessons",
  method: "POST",
  path: "/learners/{id}/skip",
  ...EXAMPLE_LEARNER,
  summary: "Skip the current step of a learner",
  description: "The results of the step are created, so that the following steps can be done.",
  reply: ShownLearner,
  errors: ["validation_failed", "resource_not_found", "invalid_state"],
  handle: async ({ lessons, params }) => shownLearner(await lessons.skip(params.id)),
});

export const showHint = endpoint({
  id: "learners.hint",
  area: "Lessons",
  method: "POST",
  path: "/learners/{id}/hint",
  ...EXAMPLE_LEARNER,
  summary: "Show the next hint of the current step, or the last one again",
  reply: ShownLearner,
  errors: ["validation_failed", "resource_not_found"],
  handle: async ({ lessons, params }) => shownLearner(await lessons.hint(params.id)),
});

export const removeLearner = endpoint({
  id: "learners.remove",
  area: "Lessons",
  method: "DELETE",
  path: "/learners/{id}",
  ...EXAMPLE_LEARNER,
  summary: "Remove a learner and all progress; the merchant is kept",
  reply: ShownLearner,
  errors: ["validation_failed", "resource_not_found"],
  handle: async ({ lessons, params }) => shownLearner(await lessons.leave(params.id)),
});
