// Who learns: one person at this dashboard, whose lesson is shown, or a room, whose board is.

import type { LearnerView, Lesson } from "../../src/contracts/lesson.ts";
import type { LiveItem } from "../../src/contracts/live-messages.ts";
import { inPath } from "../wire/control-calls.ts";
import { type Effect, just, type OwnCourse, type State, say } from "./state.ts";

/** The name of the pane in which a lesson is read. */
export const LESSON = "lesson";

export const ownCourse = ({ course }: State): OwnCourse | undefined => (course?.kind === "own" ? course : undefined);

/** The lesson, once it is the one that the learner is at. */
export const lessonOf = (state: State): Lesson | undefined => {
  const { lesson, learner } = ownCourse(state) ?? {};
  return lesson?.name === learner?.lesson ? lesson : undefined;
};

export const stepOf = (state: State) => lessonOf(state)?.steps[(ownCourse(state)?.learner?.step ?? 0) - 1];

/** How the learner stands now. A new step is read from its beginning; a new hint, which stands at the end, is brought to sight. */
export function withLearner(state: State, learner: LearnerView): State {
  const own = ownCourse(state);
  if (!own) return state;
  const { learner: before } = own;
  const next = { ...state, course: { ...own, learner } };
  if (!before) return next;
  if (before.lesson !== learner.lesson || before.step !== learner.step)
    return { ...tickedWords(next, before, learner), scrolls: { ...state.scrolls, [LESSON]: 0 } };
  return learner.hints > before.hints ? { ...next, scrolls: { ...state.scrolls, [LESSON]: Number.POSITIVE_INFINITY } } : next;
}

/** What was ticked is said, wherever the eye is. */
function tickedWords(state: State, before: LearnerView, { left }: LearnerView): State {
  const isDone =
    before.step !== null && left.some((one) => one.lesson === before.lesson && one.step === before.step && one.how === "ticked");
  return isDone ? say(state, `Ticked: ${before.stepTitle}`) : state;
}

/** The stream tells of each tick at once. */
export function heardLessons(state: State, items: readonly LiveItem[]): State {
  const id = ownCourse(state)?.id;
  const mine = items.flatMap((item) => (item.kind === "lesson" && item.lesson.learner.id === id ? [item.lesson] : []));
  return mine.reduce((before, { learner }) => withLearner(before, learner), state);
}

/** After a reset, or in another run, what was heard counts for nothing. */
export const forgotten = (state: State): State => {
  const own = ownCourse(state);
  return own ? { ...state, course: { ...own, learner: undefined } } : state;
};

/** How the learner stands, asked every second; the lesson when it is another one. */
export function courseCalls(state: State): Effect[] {
  const own = ownCourse(state);
  if (!own) return [];
  const { learner: asked } = own;
  return [
    {
      kind: "call",
      call: { method: "GET", path: `/learners/${inPath(own.id)}` },
      done(later, { body }) {
        // What the stream told meanwhile is newer.
        const next = ownCourse(later)?.learner === asked ? withLearner(later, body as LearnerView) : later;
        return { state: next, effects: lessonCalls(next) };
      },
      // Between a reset and the new beginning there is nobody who learns; it is asked again in a second.
      failed: (later) => just(later),
    },
  ];
}

function lessonCalls(state: State): Effect[] {
  const own = ownCourse(state);
  const name = own?.learner?.lesson ?? null;
  if (!own || name === null || lessonOf(state)) return [];
  const call = { method: "GET", path: `/lessons/${inPath(name)}?learner=${inPath(own.id)}` } as const;
  const done = (later: State, lesson: Lesson) => ({ ...later, course: { ...own, ...ownCourse(later), lesson } });
  return [{ kind: "call", call, done: (later, { body }) => just(done(later, body as Lesson)), failed: (later) => just(later) }];
}
