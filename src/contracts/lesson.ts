// Lessons and learners' progress between rooms: their schemas and types, and the lesson service.

import { nullable, oneOf, type Static, type TUnsafe, Type } from "../schema/shapes.ts";

const LessonBlock = Type.Object(
  {
    kind: Type.String({ description: "`prose` for Markdown, otherwise the language of a fenced block; the learner runs `sh` blocks" }),
    text: Type.String(),
  },
  { title: "lesson_block" },
);

const LessonStep = Type.Object(
  {
    number: Type.Integer(),
    title: Type.String(),
    blocks: Type.Array(LessonBlock, { description: "The content of the step, in reading order" }),
    command: nullable(Type.String({ description: "The commands of the step; null if it has none" })),
    hints: Type.Integer({ description: "The number of hints" }),
    mends: Type.Boolean({ description: "True if the learner completes the lesson's file in this step" }),
  },
  { title: "lesson_step" },
);

/** A file of a lesson is named after the lesson. Without a path, so that a room's server cannot choose where it is written. */
export const LESSON_FILE_NAME = "^[a-z][a-z0-9]*(-[a-z0-9]+)*\\.mjs$";

const LessonFile = Type.Object(
  {
    name: Type.String({ description: "The file's name, without a path", pattern: LESSON_FILE_NAME, maxLength: 64 }),
    start: Type.String(),
    solution: Type.String(),
  },
  { title: "lesson_file" },
);

/** A lesson, as the control API shows it. `name` is that of its file without number and extension. */
export const Lesson = Type.Object(
  {
    name: Type.String(),
    number: Type.Integer(),
    title: Type.String(),
    about: Type.String({ description: "The introduction, as Markdown" }),
    steps: Type.Array(LessonStep),
    file: Type.Union([LessonFile, Type.Null()], { description: "The file that the learner works on; null if the lesson has none" }),
  },
  { title: "lesson" },
);

export type Lesson = Static<typeof Lesson>;
export type LessonBlock = Static<typeof LessonBlock>;
export type LessonStep = Static<typeof LessonStep>;
export type LessonFile = Static<typeof LessonFile>;

export const STEP_ENDS = ["ticked", "skipped", "prepared"] as const;
/** `prepared`: the step is before the checkpoint at which the learner began, so the sandbox created its results. */
export type StepEnd = (typeof STEP_ENDS)[number];

export interface FinishedStep {
  lesson: string;
  step: number;
  how: StepEnd;
  /** The number of hints shown. */
  hints: number;
  /** Sandbox milliseconds. */
  at: number;
}

/** The state of a learner: a row of the board. Written out because the library's public types contain it. */
export interface LearnerState {
  /** The id of the learner's merchant. */
  id: string;
  name: string;
  /** The lesson's name; null before the first one. */
  lesson: string | null;
  title: string | null;
  /** Null at the end of the lesson. */
  step: number | null;
  stepTitle: string | null;
  /** The number of steps in the lesson. */
  steps: number;
  /** The number of this lesson's steps that the learner completed. */
  ticked: number;
  /** The number of hints shown for this step; `hint` is the latest. */
  hints: number;
  hint: string | null;
  /** Sandbox milliseconds at which the step began. */
  since: number;
  /** Real milliseconds spent at the step, counted from the start of the process if that is later. */
  elapsed: number;
  /** The name of the next lesson; null after the last one. */
  next: string | null;
  /** The finished steps of all lessons, oldest first. */
  left: FinishedStep[];
  /** Incremented with each change in this process. A client that waits for the next change sends the version that it has. */
  version: number;
}

const ShownStep: TUnsafe<Omit<FinishedStep, "at"> & { at: string }> = Type.Object(
  {
    lesson: Type.String(),
    step: Type.Integer(),
    how: oneOf(STEP_ENDS, "How the step ended; `prepared` if the learner began at a later checkpoint"),
    hints: Type.Integer({ description: "The number of hints shown" }),
    at: Type.String({ description: "The sandbox time at which the step ended" }),
  },
  { title: "left_step" },
);

/** A learner as the control API shows it. Its declared type makes the compiler hold the schema to the interface above. */
export const ShownLearner: TUnsafe<Omit<LearnerState, "since" | "left"> & { since: string; left: Static<typeof ShownStep>[] }> =
  Type.Object(
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
      left: Type.Array(ShownStep, { description: "The finished steps of all lessons, oldest first" }),
      version: Type.Integer({ description: "Incremented with each change of this learner; starts at 0 with each run" }),
    },
    { title: "learner" },
  );

export interface JoinOptions {
  name?: string | undefined;
  merchant?: string | undefined;
  /** Real milliseconds at a step before a hint is shown automatically; 0: never. */
  hintAfter?: number | undefined;
}

export const LESSON_EVENTS = ["joined", "began", "ticked", "skipped", "hint", "gone"] as const;

/** A change of a learner, with the state after it. */
export interface LessonMessage {
  news: (typeof LESSON_EVENTS)[number];
  learner: LearnerState;
}

/** The lesson service, as the control API uses it. */
export interface Lessons {
  /** The lessons, in order. */
  list(): Promise<readonly Lesson[]>;
  /** Finds a lesson by name or number; with `learner`, fills in the learner's URL, API key and merchant. */
  find(name: string, learner?: string): Promise<Lesson>;
  learners(): Promise<LearnerState[]>;
  learner(id: string): Promise<LearnerState>;
  /** Adds a learner with a new merchant. Without a name, or with a merchant, uses that merchant and returns its learner if there is one. */
  join(wanted: JoinOptions): Promise<LearnerState>;
  /** Begins a lesson. With a checkpoint, creates the results of the steps before it. */
  begin(id: string, lesson: string, checkpoint?: number): Promise<LearnerState>;
  skip(id: string): Promise<LearnerState>;
  /** Shows the next hint of the step, or the last one again. */
  hint(id: string): Promise<LearnerState>;
  leave(id: string): Promise<LearnerState>;
  /** Resolves with the learner's state when it is newer than `version`, or after `within` real milliseconds. */
  waitForNewer(id: string, version: number, within: number): Promise<LearnerState>;
  /** Schedules a check of the current step of one or all learners, after a change that publishes no event. */
  check(merchant?: string): void;
}
