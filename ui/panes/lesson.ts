// The pane of a lesson: the learner's current step, its command and hints.

import { controlCalls } from "../../src/client/control-call.ts";
import { lessonKey, withLearnerReply } from "../controls/lessons.ts";
import { paragraph } from "../details/detail-lines.ts";
import { stepLines, stepMarks } from "../details/lesson-text.ts";
import { currentLesson, currentStep, LESSON_PANE, learnerMode } from "../state/learning.ts";
import { copyText, type KeyBinding, makeCall, type UiState } from "../state/state.ts";
import { sanitize } from "../terminal/cells.ts";
import { styled } from "../terminal/style.ts";
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
  const step = currentStep(state);
  if (step) return [marks, "", ...stepLines(theme, shown, step, learner, width)];
  const score = `${learner.ticked} of ${shown.steps.length} steps completed.`;
  const next =
    learner.next === null ? "This was the last lesson. Press L to repeat any." : `Press L to start the next lesson: ${learner.next}.`;
  return [marks, "", styled(theme, "Lesson complete.", "bold"), ...paragraph(theme, width, `${score} ${next}`)];
}

function lessonKeys(): readonly KeyBinding[] {
  const learnerCall = (state: UiState, action: "hint" | "skip") => controlCalls.learners[action]({ id: learnerMode(state)?.id ?? "" });
  return [
    {
      keys: ["y"],
      label: "copy",
      help: "copy the step's command",
      isEnabled: (state) => (currentStep(state)?.command ?? null) !== null,
      run: (state) => copyText(state, currentStep(state)?.command ?? "", "the command"),
    },
    {
      keys: ["H"],
      label: "hint",
      help: "show the next hint",
      isEnabled: (state) => (currentStep(state)?.hints ?? 0) > 0,
      run: (state) => makeCall(state, learnerCall(state, "hint"), ({ body }) => `Hint ${body.hints}`, withLearnerReply),
    },
    {
      keys: ["S"],
      label: "skip",
      help: "skip the step; its results are created for you",
      isEnabled: (state) => currentStep(state) !== undefined,
      run: (state) => makeCall(state, learnerCall(state, "skip"), () => `Skipped: ${currentStep(state)?.title}`, withLearnerReply),
    },
    lessonKey((state) => learnerMode(state)?.learner),
  ];
}
