// The types of lessons and of learners' progress.

/** A block of a step. */
export interface LessonBlock {
  /** `prose` for Markdown, otherwise the language of a fenced block: `sh` is run by the learner, `text` is output. */
  readonly kind: string;
  readonly text: string;
}

export interface LessonStep {
  /** Counts from one. */
  readonly number: number;
  readonly title: string;
  readonly blocks: readonly LessonBlock[];
  /** The `sh` blocks of the step, joined; null if it has none. */
  readonly command: string | null;
  /** The number of hints. */
  readonly hints: number;
  /** True if the learner completes the lesson's file in this step. */
  readonly mends: boolean;
}

/** A file of a lesson is named after the lesson. Without a path, so that a room's server cannot choose where it is written. */
export const LESSON_FILE_NAME = "^[a-z][a-z0-9]*(-[a-z0-9]+)*\\.mjs$";

/** A file that the learner works on. */
export interface LessonFile {
  /** The file's name in the learner's folder. */
  readonly name: string;
  readonly start: string;
  readonly solution: string;
}

export interface Lesson {
  /** The file name without number and extension. */
  readonly name: string;
  readonly number: number;
  readonly title: string;
  /** The introduction, as Markdown. */
  readonly about: string;
  readonly steps: readonly LessonStep[];
  readonly file: LessonFile | null;
}

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

/** The state of a learner: a row of the board. */
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

/** The lesson service, as the control plane uses it. */
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
