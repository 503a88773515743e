// What the rooms say to one another about lessons: what a lesson is, and how far somebody who learns has come.

/** A piece of a step in the order in which it is read. */
export interface LessonBlock {
  /** `prose` for Markdown, else the language of a fenced block: `sh` is run, `text` is what comes out. */
  readonly kind: string;
  readonly text: string;
}

export interface LessonStep {
  /** Counts from one. */
  readonly number: number;
  readonly title: string;
  readonly blocks: readonly LessonBlock[];
  /** What is to be run, the blocks of a step joined; null where there is nothing to run. */
  readonly command: string | null;
  /** How many hints there are. */
  readonly hints: number;
  /** Whether the learner brings the lesson's file to its solution here. */
  readonly mends: boolean;
}

/** A file that the learner works on. */
export interface LessonFile {
  /** How it is called where the learner works. */
  readonly name: string;
  readonly start: string;
  readonly solution: string;
}

export interface Lesson {
  /** What it is called: its file without number and ending. */
  readonly name: string;
  readonly number: number;
  readonly title: string;
  /** Its opening paragraphs. */
  readonly about: string;
  readonly steps: readonly LessonStep[];
  readonly file: LessonFile | null;
}

export const STEP_ENDS = ["ticked", "skipped", "prepared"] as const;
/** `prepared` are the steps before a checkpoint, whose outcome the tool brought about. */
export type StepEnd = (typeof STEP_ENDS)[number];

export interface FinishedStep {
  lesson: string;
  step: number;
  how: StepEnd;
  /** How many hints had been shown. */
  hints: number;
  /** Sandbox milliseconds. */
  at: number;
}

/** How far somebody has come: a row of the board. */
export interface LearnerState {
  /** The merchant that the learner works with. */
  id: string;
  name: string;
  /** Null before the first lesson was begun. */
  lesson: string | null;
  title: string | null;
  /** Null when the lesson is over. */
  step: number | null;
  stepTitle: string | null;
  /** How many the lesson has. */
  steps: number;
  /** Of this lesson. */
  ticked: number;
  /** How many hints of this step were shown, and the newest of them. */
  hints: number;
  hint: string | null;
  /** Sandbox milliseconds at which the step began. */
  since: number;
  /** Real milliseconds that the step has taken so far; from the start of the process where that came later. */
  elapsed: number;
  /** The lesson after this one; null after the last. */
  next: string | null;
  /** The steps that were left behind, of every lesson, oldest first. */
  left: FinishedStep[];
  /** How many news there were of this learner in this process: whoever waits for the next says which it knows. */
  version: number;
}

/** The same as far as those need it who show a lesson; over the wire times are text. */
export type LearnerView = Omit<LearnerState, "since" | "left"> & {
  readonly left: readonly Pick<FinishedStep, "lesson" | "step" | "how">[];
};

/** Who wants to learn. */
export interface JoinOptions {
  name?: string | undefined;
  merchant?: string | undefined;
  /** Real milliseconds at a step after which a hint is shown unasked; none where it is 0. */
  hintAfter?: number | undefined;
}

export const LESSON_EVENTS = ["joined", "began", "ticked", "skipped", "hint", "gone"] as const;

/** What happened to somebody who learns, and how that stands now. */
export interface LessonMessage {
  news: (typeof LESSON_EVENTS)[number];
  learner: LearnerState;
}

/** Who learns, and what: the control plane works with this. */
export interface Lessons {
  /** In their order, as they are written. */
  list(): Promise<readonly Lesson[]>;
  /** As a learner is to see it, with its own key and address; as it is written without one. */
  find(name: string, learner?: string): Promise<Lesson>;
  board(): Promise<LearnerState[]>;
  learner(id: string): Promise<LearnerState>;
  /** A learner of this name with a merchant of its own; without a name, or with a merchant, the one who learns with that. */
  join(wanted: JoinOptions): Promise<LearnerState>;
  /** Begins a lesson afresh, or at one of its steps, with what the steps before would have left. */
  begin(id: string, lesson: string, checkpoint?: number): Promise<LearnerState>;
  skip(id: string): Promise<LearnerState>;
  /** The next hint of the step, or the last one again. */
  hint(id: string): Promise<LearnerState>;
  leave(id: string): Promise<LearnerState>;
  /** How a learner stands, once there is something newer than that version, or after so many real milliseconds. */
  newer(id: string, version: number, within: number): Promise<LearnerState>;
  /** Looks at everybody who learns: something may have changed of which no request and no delivery tells. */
  look(merchant?: string): void;
}
