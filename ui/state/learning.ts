// Lessons in the state: the learner's progress, the lesson shown, and the calls that fetch them.

import type { Lesson } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import type { LiveItem } from "../../src/contracts/live-messages.ts";
import type { Effect, LearnerView, StateUpdate, UiState } from "./state.ts";
import { pollEffect, update, withNotice } from "./updates.ts";

export const LESSON_PANE = "lesson";

export const currentLesson = (state: UiState): Lesson | undefined => {
  const { lesson, learner } = state.learning ?? {};
  return lesson?.name === learner?.lesson ? lesson : undefined;
};

/** The step that the pane shows: the current step, or an earlier one that the learner is reading. */
export const shownStep = (state: UiState) =>
  currentLesson(state)?.steps[(state.learning?.reading ?? state.learning?.learner?.step ?? 0) - 1];

export const currentStep = (state: UiState) => currentLesson(state)?.steps[(state.learning?.learner?.step ?? 0) - 1];

/** How the learner last finished a step of the current lesson; undefined if the step is not finished. */
export const stepEnd = ({ lesson, finishedSteps }: LearnerView, step: number) =>
  finishedSteps.findLast((one) => one.lesson === lesson && one.step === step)?.how;

/**
 * Applies the learner's progress. The text of a completed step stays until the learner goes on. A new hint is scrolled
 * into view.
 */
export function withLearner(state: UiState, learner: LearnerView): UiState {
  const mode = state.learning;
  if (!mode) return state;
  const { learner: before } = mode;
  const next = { ...state, learning: { ...mode, learner } };
  if (!before) return next;
  if (before.lesson !== learner.lesson || before.step !== learner.step) {
    const isRead =
      before.lesson === learner.lesson && before.step !== null && stepEnd(learner, before.step) === "completed";
    const shown = isRead ? readStep(next, mode.reading ?? before.step) : readStep(next, undefined);
    return isRead ? withNotice(shown, `Step completed: ${before.stepTitle}. Press n to go on`) : shown;
  }
  return learner.hints > before.hints && mode.reading === undefined ? scrolledTo(next, Number.POSITIVE_INFINITY) : next;
}

const scrolledTo = (state: UiState, line: number): UiState => ({
  ...state,
  scrolls: { ...state.scrolls, [LESSON_PANE]: line },
});

/** Shows an earlier step, or the current one, from its first line. The step already shown keeps its scroll position. */
export function readStep(state: UiState, step: number | null | undefined): UiState {
  const mode = state.learning;
  if (!mode) return state;
  const isShown = shownStep(state)?.number === step && mode.reading !== undefined;
  const next = { ...state, learning: { ...mode, reading: step ?? undefined } };
  return isShown ? next : scrolledTo(next, 0);
}

export function applyLessonItems(state: UiState, items: readonly LiveItem[]): UiState {
  const id = state.learning?.id;
  const own = items.flatMap((item) =>
    item.kind === "lesson" && item.lesson.learner.id === id ? [item.lesson.learner] : [],
  );
  return own.reduce(withLearner, state);
}

/** After a reset or a restart, earlier progress no longer counts. */
export const withoutLearner = (state: UiState): UiState => {
  const mode = state.learning;
  return mode ? { ...state, learning: { ...mode, learner: undefined, reading: undefined } } : state;
};

/** Finds the first learner of the sandbox, whose lesson a page shows. A terminal gets its learner when it opens. */
export const findLearner = (state: UiState): StateUpdate =>
  update(
    state,
    pollEffect(controlCalls.learners.list(), (later, { body: { data } }) => {
      const [learner] = data;
      if (!learner || later.learning) return update(later);
      return update({ ...later, learning: { id: learner.id, learner } }, { kind: "refresh" });
    }),
  );

export function pollLearner(state: UiState): Effect[] {
  const mode = state.learning;
  if (!mode) return [];
  const { learner: polled } = mode;
  // After a reset the learner does not exist until the lesson starts again; a later poll finds it.
  return [
    pollEffect(controlCalls.learners.get({ id: mode.id }), (later, { body }) => {
      // The stream may have delivered newer progress while the poll was in flight.
      const next = later.learning?.learner === polled ? withLearner(later, body) : later;
      return update(next, ...fetchLesson(next));
    }),
  ];
}

function fetchLesson(state: UiState): Effect[] {
  const mode = state.learning;
  const name = mode?.learner?.lesson ?? null;
  if (!mode || name === null || currentLesson(state)) return [];
  const withLesson = (later: UiState, lesson: Lesson) => ({
    ...later,
    learning: { ...mode, ...later.learning, lesson },
  });
  return [
    pollEffect(controlCalls.lessons.get({ name, learner: mode.id }), (later, { body }) =>
      update(withLesson(later, body)),
    ),
  ];
}
