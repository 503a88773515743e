// Lessons from outside: what there is to learn, who learns it and how far each has come, and what is done for them.

import { type LearnerState, type Lesson, STEP_ENDS } from "../contracts/lesson.ts";
import { isoTime } from "../kernel/clock.ts";
import { tryParseDuration } from "../kernel/duration.ts";
import { fail } from "../kernel/errors.ts";
import { nullable, oneOf, type Static, Type, text } from "../schema/shapes.ts";
import { type ControlContext, endpoint } from "./control-context.ts";

const Block = Type.Object(
  { kind: Type.String({ description: "`prose` for Markdown, else the language of a fenced block: `sh` is run" }), text: Type.String() },
  { title: "lesson_block" },
);

const StepShape = Type.Object(
  {
    number: Type.Integer(),
    title: Type.String(),
    blocks: Type.Array(Block, { description: "In the order in which they are read" }),
    command: nullable(Type.String({ description: "What is to be run; null where there is nothing to run" })),
    hints: Type.Integer({ description: "How many there are" }),
    mends: Type.Boolean({ description: "Whether the lesson's file is brought to its solution here" }),
  },
  { title: "lesson_step" },
);

const FileShape = Type.Object({ name: Type.String(), start: Type.String(), solution: Type.String() }, { title: "lesson_file" });

export const LessonShape = Type.Object(
  {
    name: Type.String(),
    number: Type.Integer(),
    title: Type.String(),
    about: Type.String({ description: "Its opening, as Markdown" }),
    steps: Type.Array(StepShape),
    file: Type.Union([FileShape, Type.Null()], { description: "The file that the learner works on; null where the lesson has none" }),
  },
  { title: "lesson" },
);

const LeftShape = Type.Object(
  {
    lesson: Type.String(),
    step: Type.Integer(),
    how: oneOf(STEP_ENDS, "`prepared` where a checkpoint came after it"),
    hints: Type.Integer({ description: "How many had been shown" }),
    at: Type.String({ description: "Sandbox time" }),
  },
  { title: "left_step" },
);

export const LearnerShape = Type.Object(
  {
    id: Type.String({ description: "The merchant that the learner works with" }),
    name: Type.String(),
    lesson: nullable(Type.String({ description: "Null before the first" })),
    title: nullable(Type.String({ description: "The lesson's" })),
    step: nullable(Type.Integer({ description: "Null when the lesson is over" })),
    stepTitle: nullable(Type.String()),
    steps: Type.Integer({ description: "How many the lesson has" }),
    ticked: Type.Integer({ description: "How many of them ticked" }),
    hints: Type.Integer({ description: "How many of this step's were shown" }),
    hint: nullable(Type.String({ description: "The newest of them, as Markdown; null where none was" })),
    since: Type.String({ description: "Sandbox time at which the step began" }),
    elapsed: Type.Integer({ description: "Real milliseconds at the step" }),
    next: nullable(Type.String({ description: "The lesson after this one; null after the last" })),
    left: Type.Array(LeftShape, { description: "The steps left behind, of every lesson, oldest first" }),
    version: Type.Integer({ description: "How many news there were of this learner in this run" }),
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

/** What a learner calls with. */
export const accessOf = ({ tenants, about }: Pick<ControlContext, "tenants" | "about">, id: string) => ({
  apiKey: tenants.list().find((tenant) => tenant.id === id)?.apiKeys[0] ?? "",
  baseUrl: `${about.url()}/v1`,
});

export const learnerName = text("What the learner is called; no two are called the same", {
  minLength: 1,
  maxLength: 60,
  pattern: "^[^\\p{Cc}\\p{Cf}]+$",
});

export const begins = {
  name: text("Which lesson, by its name or its number"),
  checkpoint: Type.Optional(Type.Integer({ description: "Begin at this step, with what those before would have left", minimum: 1 })),
};

const ANSWER = { exampleParams: { id: "mer_lodge" } };

export const listLessons = endpoint({
  id: "lessons.list",
  area: "Lessons",
  method: "GET",
  path: "/lessons",
  summary: "Every lesson, as it is written",
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
  summary: "A lesson, its commands ready to be run by one learner",
  query: Type.Object({
    learner: Type.Optional(text("Whose address, key and merchant stand in the commands; as they are written unless given")),
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
  summary: "The board: who is at which step, since when, and what ticked",
  reply: Type.Object({
    object: oneOf(["list"], "Always `list`"),
    data: Type.Array(LearnerShape, { description: "In the order in which they joined" }),
  }),
  errors: ["validation_failed"],
  handle: async ({ lessons }) => ({ object: "list" as const, data: (await lessons.board()).map(shownLearner) }),
});

export const joinLessons = endpoint({
  id: "learners.join",
  area: "Lessons",
  method: "POST",
  path: "/learners",
  summary: "Let somebody learn, with a merchant of its own",
  description:
    "A name gets a new merchant with everything that the first fixture has. Without a name it is the first merchant itself, and whoever learns with it already goes on.",
  body: Type.Object({
    name: Type.Optional(learnerName),
    merchant: Type.Optional(text("A merchant that there is, instead of a new one")),
    hintAfter: Type.Optional(text("How long at a step until a hint is shown unasked, in real time; 90s unless given, 0s for never")),
  }),
  example: { name: "Ada" },
  reply: LearnerWithKey,
  errors: ["validation_failed", "resource_not_found", "already_exists"],
  async handle({ body: { name, merchant, hintAfter }, ...context }) {
    const learner = await context.lessons.join({ name, merchant, hintAfter: spanIn("hintAfter", hintAfter) });
    return { learner: shownLearner(learner), ...accessOf(context, learner.id) };
  },
});

/** Real milliseconds; undefined where nothing was given. */
export function spanIn(field: string, given: string | undefined): number | undefined {
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
  ...ANSWER,
  summary: "How one learner stands",
  reply: LearnerShape,
  errors: ["resource_not_found"],
  handle: async ({ lessons, params }) => shownLearner(await lessons.learner(params.id)),
});

export const beginLesson = endpoint({
  id: "learners.begin",
  area: "Lessons",
  method: "POST",
  path: "/learners/{id}/lesson",
  ...ANSWER,
  summary: "Begin a lesson, afresh or at one of its steps",
  body: Type.Object(begins),
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
  ...ANSWER,
  summary: "Leave a step behind as if it had been done",
  description: "What the step would have left is brought about, so that those after it can be done.",
  reply: LearnerShape,
  errors: ["validation_failed", "resource_not_found", "invalid_state"],
  handle: async ({ lessons, params }) => shownLearner(await lessons.skip(params.id)),
});

export const showHint = endpoint({
  id: "learners.hint",
  area: "Lessons",
  method: "POST",
  path: "/learners/{id}/hint",
  ...ANSWER,
  summary: "Show the next hint of a step, or the last one again",
  reply: LearnerShape,
  errors: ["validation_failed", "resource_not_found"],
  handle: async ({ lessons, params }) => shownLearner(await lessons.hint(params.id)),
});

export const removeLearner = endpoint({
  id: "learners.remove",
  area: "Lessons",
  method: "DELETE",
  path: "/learners/{id}",
  ...ANSWER,
  summary: "Forget a learner and all progress; the merchant stays",
  reply: LearnerShape,
  errors: ["validation_failed", "resource_not_found"],
  handle: async ({ lessons, params }) => shownLearner(await lessons.leave(params.id)),
});
