// Lessons in the state: the learner's progress, the lesson shown, and the calls that fetch them.

import { controlCalls } from "../../src/client/control-call.ts";
import type { Lesson } from "../../src/client/control-plane.generated.ts";
import type { LiveItem } from "../../src/contracts/live-messages.ts";
import { callEffect, type Effect, type LearnerMode, type LearnerView, type UiState, update, withNotice } from "./state.ts";

export const LESSON_PANE = "lesson";
export const BOARD_PANE = "board";

export const learnerMode = ({ learning }: UiState): LearnerMode | undefined => (learning?.kind === "learner" ? learning : undefined);

/** The learner's lesson; undefined until it is fetched. */
export const currentLesson = (state: UiState): Lesson | undefined => {
  const { lesson, learner } = learnerMode(state) ?? {};
  return lesson?.name === learner?.lesson ? lesson : undefined;
};

export const currentStep = (state: UiState) => currentLesson(state)?.steps[(learnerMode(state)?.learner?.step ?? 0) - 1];

/** Applies the learner's progress. A new step is shown from its first line; a new hint, which is at the end, is scrolled into view. */
export function withLearner(state: UiState, learner: LearnerView): UiState {
  const mode = learnerMode(state);
  if (!mode) return state;
  const { learner: before } = mode;
  const next = { ...state, learning: { ...mode, learner } };
  if (!before) return next;
  const scrollTo = (line: number) => ({ ...next, scrolls: { ...state.scrolls, [LESSON_PANE]: line } });
  if (before.lesson !== learner.lesson || before.step !== learner.step) return withCompletionNotice(scrollTo(0), before, learner);
  return learner.hints > before.hints ? scrollTo(Number.POSITIVE_INFINITY) : next;
}

/** A notice is visible in every pane. */
function withCompletionNotice(state: UiState, before: LearnerView, { left }: LearnerView): UiState {
  const isCompleted =
    before.step !== null && left.some((one) => one.lesson === before.lesson && one.step === before.step && one.how === "ticked");
  return isCompleted ? withNotice(state, `Step completed: ${before.stepTitle}`) : state;
}

export function applyLessonItems(state: UiState, items: readonly LiveItem[]): UiState {
  const id = learnerMode(state)?.id;
  const own = items.flatMap((item) => (item.kind === "lesson" && item.lesson.learner.id === id ? [item.lesson.learner] : []));
  return own.reduce(withLearner, state);
}

/** After a reset or a restart, earlier progress no longer counts. */
export const withoutLearner = (state: UiState): UiState => {
  const mode = learnerMode(state);
  return mode ? { ...state, learning: { ...mode, learner: undefined } } : state;
};

/** Polls the learner's progress, and fetches the lesson when it changed. */
export function pollLearner(state: UiState): Effect[] {
  const mode = learnerMode(state);
  if (!mode) return [];
  const { learner: polled } = mode;
  return [
    callEffect(
      controlCalls.learners.get({ id: mode.id }),
      (later, { body }) => {
        // The stream may have delivered newer progress while the poll was in flight.
        const next = learnerMode(later)?.learner === polled ? withLearner(later, body) : later;
        return update(next, ...fetchLesson(next));
      },
      // After a reset the learner does not exist until the lesson starts again; the next poll finds it.
      (later) => update(later),
    ),
  ];
}

function fetchLesson(state: UiState): Effect[] {
  const mode = learnerMode(state);
  const name = mode?.learner?.lesson ?? null;
  if (!mode || name === null || currentLesson(state)) return [];
  const call = controlCalls.lessons.get({ name, learner: mode.id });
  const withLesson = (later: UiState, lesson: Lesson) => ({ ...later, learning: { ...mode, ...learnerMode(later), lesson } });
  return [
    callEffect(
      call,
      (later, { body }) => update(withLesson(later, body)),
      (later) => update(later),
    ),
  ];
}
