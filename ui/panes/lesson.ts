// The pane of a lesson: the learner's current step, its command and hints.

import type { Learner } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import { lessonKey, openLessonForm, withLearnerReply } from "../controls/lessons.ts";
import { paragraph } from "../details/detail-lines.ts";
import { stepLines, stepMarks } from "../details/lesson-text.ts";
import { textOverlay } from "../overlays/text-view.ts";
import { currentLesson, currentStep, LESSON_PANE, learnerMode, readStep, shownStep } from "../state/learning.ts";
import type { KeyBinding, UiState } from "../state/state.ts";
import { copyText, makeCall, openOverlay, update } from "../state/updates.ts";
import { sanitize } from "../view/cells.ts";
import { styled, symbols } from "../view/style.ts";
import { textPane } from "./pane.ts";

export const lesson = textPane({
  name: LESSON_PANE,
  title: "Lesson",
  isShown: (state) => learnerMode(state) !== undefined,
  titleNote: (state) => sanitize(learnerMode(state)?.learner?.title ?? ""),
  textLines: lessonLines,
  keys: lessonKeys(),
});

function lessonLines(state: UiState, width: number): string[] {
  const { theme } = state;
  const learner = learnerMode(state)?.learner;
  const shown = currentLesson(state);
  if (!learner || !shown) {
    const text = learner?.lesson === null ? "Press L to start a lesson." : "Loading the lesson …";
    return ["", styled(theme, text, "dim")];
  }
  const marks = stepMarks(theme, shown, learner);
  const step = shownStep(state);
  if (step && step.number !== learner.step) {
    const isSkipped = learner.left.findLast((one) => one.lesson === learner.lesson && one.step === step.number)?.how !== "ticked";
    const { good, skipped } = symbols(theme);
    const text = isSkipped ? `${skipped} Step skipped. Press n to go on.` : `${good} Step completed. Press n to go on.`;
    const earlier = stepLines(theme, shown, step, { ...learner, hint: null }, width);
    return [marks, "", styled(theme, text, "green"), "", ...earlier];
  }
  if (step) return [marks, "", ...stepLines(theme, shown, step, learner, width)];
  const score = `${learner.ticked} of ${shown.steps.length} steps completed.`;
  const next =
    learner.next === null ? "This was the last lesson. Press L to repeat any." : `Press L to start the next lesson: ${learner.next}.`;
  return [marks, "", styled(theme, "Lesson complete.", "bold"), ...paragraph(theme, width, `${score} ${next}`)];
}

function hasCommand(state: UiState): boolean {
  return (shownStep(state)?.command ?? null) !== null;
}

const isAtCurrentStep = (state: UiState) => learnerMode(state)?.reading === undefined;

/** The number of the shown step; after the last step one more. */
const shownNumber = (state: UiState): number => shownStep(state)?.number ?? (currentLesson(state)?.steps.length ?? 0) + 1;

/** Shows the step before or after the shown one, up to the current one. */
function stepBy(state: UiState, by: number): UiState {
  const current = currentStep(state)?.number ?? (currentLesson(state)?.steps.length ?? 0) + 1;
  const step = shownNumber(state) + by;
  return readStep(state, step >= current ? undefined : Math.max(1, step));
}

const learnerResult = (message: string, learner: Learner) => ({
  message,
  updateState: (state: UiState) => withLearnerReply(state, learner),
});

function lessonKeys(): readonly KeyBinding[] {
  const learnerCall = (state: UiState, action: "hint" | "skip") => controlCalls.learners[action]({ id: learnerMode(state)?.id ?? "" });
  return [
    {
      keys: ["n"],
      label: "next step",
      help: "go on from a finished step",
      isEnabled: (state) => learnerMode(state)?.reading !== undefined && currentLesson(state) !== undefined,
      run: (state) => update(stepBy(state, 1)),
    },
    {
      keys: ["y"],
      label: "copy",
      help: "copy the step's command",
      isEnabled: hasCommand,
      run: (state) => copyText(state, shownStep(state)?.command ?? "", "the command"),
    },
    {
      keys: ["v"],
      label: "select",
      help: "show the step's command without borders, to select it",
      isEnabled: hasCommand,
      run: (state) => update(openOverlay(state, textOverlay("Command", shownStep(state)?.command ?? ""))),
    },
    {
      keys: ["H"],
      label: "hint",
      help: "show the next hint",
      isEnabled: (state) => isAtCurrentStep(state) && (currentStep(state)?.hints ?? 0) > 0,
      run: (state) => makeCall(state, learnerCall(state, "hint"), (learner) => learnerResult(`Hint ${learner.hints}`, learner)),
    },
    {
      keys: ["S"],
      label: "skip",
      help: "skip the step; its results are created for you",
      isEnabled: (state) => isAtCurrentStep(state) && currentStep(state) !== undefined,
      run: (state) =>
        makeCall(state, learnerCall(state, "skip"), (learner) => learnerResult(`Skipped: ${currentStep(state)?.title}`, learner)),
    },
    {
      ...lessonKey,
      isEnabled: (state) => learnerMode(state)?.learner !== undefined,
      run(state) {
        const learner = learnerMode(state)?.learner;
        return learner ? openLessonForm(state, learner) : update(state);
      },
    },
    {
      keys: ["p"],
      label: "earlier step",
      help: "read the step before",
      isEnabled: (state) => currentLesson(state) !== undefined && shownNumber(state) > 1,
      run: (state) => update(stepBy(state, -1)),
    },
  ];
}
