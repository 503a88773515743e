// The contract of lessons and learners' progress: their schemas and types, and the lesson service.

import { nullable, nullableText, oneOf, type Static, Type, timeNumber } from "../schema/shapes.ts";

const LessonBlock = Type.Object(
  {
    kind: Type.String({
      description: "`prose` for Markdown, otherwise the language of a fenced block; the learner runs `sh` blocks",
    }),
    text: Type.String(),
  },
  { title: "lesson_block" },
);

const LessonStep = Type.Object(
  {
    number: Type.Integer(),
    title: Type.String(),
    blocks: Type.Array(LessonBlock, { description: "The content of the step, in reading order" }),
    command: nullableText("The commands of the step; null if it has none"),
    hints: Type.Integer({ description: "The number of hints" }),
    mends: Type.Boolean({ description: "True if the learner completes the lesson's file in this step" }),
  },
  { title: "lesson_step" },
);

const LessonFile = Type.Object(
  {
    name: Type.String({ description: "The name of the file: the lesson's name with `.mjs`" }),
    start: Type.String(),
    solution: Type.String(),
  },
  { title: "lesson_file" },
);

/** A lesson as the control API shows it. `name` is its file name without number and extension. */
export const Lesson = Type.Object(
  {
    name: Type.String(),
    number: Type.Integer(),
    title: Type.String(),
    about: Type.String({ description: "The introduction, as Markdown" }),
    steps: Type.Array(LessonStep),
    file: Type.Union([LessonFile, Type.Null()], {
      description: "The file that the learner works on; null if the lesson has none",
    }),
  },
  { title: "lesson" },
);

export type Lesson = Static<typeof Lesson>;
export type LessonBlock = Static<typeof LessonBlock>;
export type LessonStep = Static<typeof LessonStep>;
export type LessonFile = Static<typeof LessonFile>;

const STEP_ENDS = ["completed", "skipped", "prepared"] as const;
/** `prepared`: the step is before the one at which the learner began, so the sandbox created its results. */
export type StepEnd = (typeof STEP_ENDS)[number];

const ShownStep = Type.Object(
  {
    lesson: Type.String(),
    step: Type.Integer(),
    how: oneOf(STEP_ENDS, "How the step ended; `prepared` if the learner began at a later one"),
    hints: Type.Integer({ description: "The number of hints shown" }),
    at: Type.String({ description: "The sandbox time at which the step ended" }),
  },
  { title: "finished_step" },
);

const FinishedStep = Type.Object({ ...ShownStep.properties, at: timeNumber() }, { title: "finished_step_state" });

export type FinishedStep = Static<typeof FinishedStep>;

/** A learner as the control API shows it. */
export const ShownLearner = Type.Object(
  {
    id: Type.String({ description: "The id of the learner's merchant" }),
    name: Type.String(),
    lesson: nullableText("The name of the lesson; null before the first one"),
    title: nullableText("The title of the lesson"),
    step: nullable(Type.Integer({ description: "The number of the step; null at the end of the lesson" })),
    stepTitle: nullable(Type.String()),
    steps: Type.Integer({ description: "The number of steps in the lesson" }),
    completed: Type.Integer({ description: "The number of completed steps" }),
    hints: Type.Integer({ description: "The number of hints shown for this step" }),
    hint: nullableText("The latest hint shown, as Markdown; null if none was shown"),
    since: Type.String({ description: "The sandbox time at which the step began" }),
    elapsed: Type.Integer({
      description: "Real milliseconds spent at the step, counted from the start of the process if that is later",
    }),
    next: nullableText("The name of the next lesson; null after the last one"),
    finishedSteps: Type.Array(ShownStep, { description: "The finished steps of all lessons, oldest first" }),
    version: Type.Integer({ description: "Incremented with each change of this learner; starts at 0 with each run" }),
  },
  { title: "learner" },
);

/** A learner inside the sandbox and on the live stream. */
export const LearnerState = Type.Object(
  {
    ...ShownLearner.properties,
    since: timeNumber(),
    finishedSteps: Type.Array(FinishedStep, { description: "The finished steps of all lessons, oldest first" }),
  },
  { title: "learner_state" },
);

export type LearnerState = Static<typeof LearnerState>;

export interface JoinOptions {
  name?: string | undefined;
  merchant?: string | undefined;
  /** Real milliseconds at a step before a hint is shown automatically; 0: never. */
  hintAfter?: number | undefined;
}

const LESSON_EVENTS = ["joined", "began", "completed", "skipped", "hint", "gone"] as const;

/** A change of a learner, with the state after it. */
export const LessonMessage = Type.Object(
  { news: oneOf(LESSON_EVENTS, ""), learner: LearnerState },
  { title: "lesson_message" },
);

export type LessonMessage = Static<typeof LessonMessage>;
