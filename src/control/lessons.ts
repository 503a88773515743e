// The control operations for lessons and learners.

import { LESSON_FILE_NAME, type LearnerState, type Lesson, STEP_ENDS } from "../contracts/lesson.ts";
import { isoTime } from "../kernel/clock.ts";
import { tryParseDuration } from "../kernel/duration.ts";
import { fail } from "../kernel/errors.ts";
import { nullable, oneOf, type Static, Type, text } from "../schema/shapes.ts";
import { type ControlContext, endpoint } from "./control-context.ts";

const Block = Type.Object(
  {
    kind: Type.String({ description: "`prose` for Markdown, otherwise the language of a fenced block; the learner runs `sh` blocks" }),
    text: Type.String(),
  },
  { title: "lesson_block" },
);

const StepShape = Type.Object(
  {
    number: Type.Integer(),
    title: Type.String(),
    blocks: Type.Array(Block, { description: "The content of the step, in reading order" }),
    command: nullable(Type.String({ description: "The commands of the step; null if it has none" })),
    hints: Type.Integer({ description: "The number of hints" }),
    mends: Type.Boolean({ description: "True if the learner completes the lesson's file in this step" }),
  },
  { title: "lesson_step" },
);

const FileShape = Type.Object(
  {
    name: Type.String({ description: "The file's name, without a path", pattern: LESSON_FILE_NAME, maxLength: 64 }),
    start: Type.String(),
    solution: Type.String(),
  },
  { title: "lesson_file" },
);

export const LessonShape = Type.Object(
  {
    name: Type.String(),
    number: Type.Integer(),
    title: Type.String(),
    about: Type.String({ description: "The introduction, as Markdown" }),
    steps: Type.Array(StepShape),
    file: Type.Union([FileShape, Type.Null()], { description: "The file that the learner works on; null if the lesson has none" }),
  },
  { title: "lesson" },
);

const LeftShape = Type.Object(
  {
    lesson: Type.String(),
    step: Type.Integer(),
    how: oneOf(STEP_ENDS, "How the step ended; `prepared` if the learner began at a later checkpoint"),
    hints: Type.Integer({ description: "The number of hints shown" }),
    at: Type.String({ description: "The sandbox time at which the step ended" }),
  },
  { title: "left_step" },
);

export const LearnerShape = Type.Object(
  {
    id: Type.String({ description: "The id of the learner's merchant" }),
    name: Type.String(),
    lesson: nullable(Type.String({ description: "The name of the lesson; null before the first one" })),
    title: nullable(Type.String({ description: "The title of the lesson" })),
    step: nullable(Type.Integer({ description: "The number of the step; null at the end of the lesson" })),
    stepTitle: nullable(Type.String()),
    steps: Type.Integer({ description: "The number of steps in the lesson" }),
    ticked: Type.Integer({ description: "The number of steps completed by the learner" }),
    hints: Type.Integer({ description: "The number of hints shown for this step" }),
    hint: nullable(Type.String({ description: "The latest hint shown, as Markdown; null if none was shown" })),
    since: Type.String({ description: "The sandbox time at which the step began" }),
    elapsed: Type.Integer({ description: "Real milliseconds spent at the step" }),
    next: nullable(Type.String({ description: "The name of the next lesson; null after the last one" })),
    left: Type.Array(LeftShape, { description: "The finished steps of all lessons, oldest first" }),
    version: Type.Integer({ description: "Incremented with each change of this learner; starts at 0 with each run" }),
  },
  { title: "learner" },
);

export const shownLearner = (state: LearnerState): Static<typeof LearnerShape> => ({
  ...state,
  since: isoTime(state.since),
  left: state.left.map((left) => ({ ...left, at: isoTime(left.at) })),
});

export const shownLesson = ({ steps, file, ...lesson }: Lesson): Static<typeof LessonShape> => ({
  ...lesson,
  file: file && { ...file },
  steps: steps.map((step) => ({ ...step, blocks: step.blocks.map((block) => ({ ...block })) })),
});

const LearnerWithKey = Type.Object({ learner: LearnerShape, apiKey: Type.String(), baseUrl: Type.String() });

/** The API key and base URL of a learner. */
export const learnerAccess = ({ tenants, about }: Pick<ControlContext, "tenants" | "about">, id: string) => ({
  apiKey: tenants.list().find((tenant) => tenant.id === id)?.apiKeys[0] ?? "",
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
  reply: Type.Object({ object: oneOf(["list"], "Always `list`"), data: Type.Array(LessonShape) }),
  errors: ["validation_failed"],
  handle: async ({ lessons }) => ({ object: "list" as const, data: (await lessons.list()).map(shownLesson) }),
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
  reply: LessonShape,
  errors: ["validation_failed", "resource_not_found"],
  handle: async ({ lessons, params, query }) => shownLesson(await lessons.find(params.name, query.learner)),
});

export const listLearners = endpoint({
  id: "learners.list",
  area: "Lessons",
  method: "GET",
  path: "/learners",
  summary: "List the learners with their progress",
  reply: Type.Object({
    object: oneOf(["list"], "Always `list`"),
    data: Type.Array(LearnerShape, { description: "The learners, in the order in which they joined" }),
  }),
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
  errors: ["validation_failed", "resource_not_found", "already_exists"],
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
  reply: LearnerShape,
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
  reply: LearnerShape,
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
  reply: LearnerShape,
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
  reply: LearnerShape,
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
  reply: LearnerShape,
  errors: ["validation_failed", "resource_not_found"],
  handle: async ({ lessons, params }) => shownLearner(await lessons.leave(params.id)),
});
