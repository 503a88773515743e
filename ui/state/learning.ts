// Lessons in the state: the learner's progress, the lesson shown, and the calls that fetch them.

import type { Lesson } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import type { LiveItem } from "../../src/contracts/live-messages.ts";
import type { Effect, LearnerMode, LearnerView, UiState } from "./state.ts";
import { pollEffect, update, withNotice } from "./updates.ts";

export const LESSON_PANE = "lesson";
export const BOARD_PANE = "board";

export const learnerMode = ({ learning }: UiState): LearnerMode | undefined =>
  learning?.kind === "learner" ? learning : undefined;

export const isGuest = (state: UiState): boolean => learnerMode(state)?.isGuest === true;

export const currentLesson = (state: UiState): Lesson | undefined => {
  const { lesson, learner } = learnerMode(state) ?? {};
  return lesson?.name === learner?.lesson ? lesson : undefined;
};

/** The step that the pane shows: the current step, or an earlier one that the learner is reading. */
export const shownStep = (state: UiState) =>
  currentLesson(state)?.steps[(learnerMode(state)?.reading ?? learnerMode(state)?.learner?.step ?? 0) - 1];

export const currentStep = (state: UiState) =>
  currentLesson(state)?.steps[(learnerMode(state)?.learner?.step ?? 0) - 1];

/** How a step of the current lesson ended last; undefined if it has not. */
export const stepEnd = ({ lesson, finishedSteps }: LearnerView, step: number) =>
  finishedSteps.findLast((one) => one.lesson === lesson && one.step === step)?.how;

/**
 * Applies the learner's progress. The text of a completed step stays until the learner goes on. A new hint is scrolled
 * into view.
 */
export function withLearner(state: UiState, learner: LearnerView): UiState {
  const mode = learnerMode(state);
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

/** Shows an earlier step, or the current one, from its first line. A step that is already shown keeps its place. */
export function readStep(state: UiState, step: number | null | undefined): UiState {
  const mode = learnerMode(state);
  if (!mode) return state;
  const isShown = shownStep(state)?.number === step && mode.reading !== undefined;
  const next = { ...state, learning: { ...mode, reading: step ?? undefined } };
  return isShown ? next : scrolledTo(next, 0);
}

export function applyLessonItems(state: UiState, items: readonly LiveItem[]): UiState {
  const id = learnerMode(state)?.id;
  const own = items.flatMap((item) =>
    item.kind === "lesson" && item.lesson.learner.id === id ? [item.lesson.learner] : [],
  );
  return own.reduce(withLearner, state);
}

/** After a reset or a restart, earlier progress no longer counts. */
export const withoutLearner = (state: UiState): UiState => {
  const mode = learnerMode(state);
  return mode ? { ...state, learning: { ...mode, learner: undefined, reading: undefined } } : state;
};

export function pollLearner(state: UiState): Effect[] {
  const mode = learnerMode(state);
  if (!mode) return [];
  const { learner: polled } = mode;
  // After a reset the learner does not exist until the lesson starts again; a later poll finds it.
  return [
    pollEffect(controlCalls.learners.get({ id: mode.id }), (later, { body }) => {
      // The stream may have delivered newer progress while the poll was in flight.
      const next = learnerMode(later)?.learner === polled ? withLearner(later, body) : later;
      return update(next, ...fetchLesson(next));
    }),
  ];
}

function fetchLesson(state: UiState): Effect[] {
  const mode = learnerMode(state);
  const name = mode?.learner?.lesson ?? null;
  if (!mode || name === null || currentLesson(state)) return [];
  const withLesson = (later: UiState, lesson: Lesson) => ({
    ...later,
    learning: { ...mode, ...learnerMode(later), lesson },
  });
  return [
    pollEffect(controlCalls.lessons.get({ name, learner: mode.id }), (later, { body }) =>
      update(withLesson(later, body)),
    ),
  ];
}
