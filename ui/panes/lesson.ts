// The pane of a lesson: the learner's current step as text, its command and hints.

import type { Learner, Lesson, LessonBlock, LessonStep } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import { currentLesson, currentStep, LESSON_PANE, readStep, shownStep, stepEnd } from "../state/learning.ts";
import { boundTo, type LearnerView, type UiState } from "../state/state.ts";
import { copyText, makeCall, openOverlay, update } from "../state/updates.ts";
import { sanitize, wrap } from "../text/cells.ts";
import { styled, symbols, type Theme } from "../text/style.ts";
import { lessonKey, openLessonForm, withLearnerReply } from "./controls/lessons.ts";
import { paragraph, wrapped } from "./details/detail-lines.ts";
import { shellLines, textOverlay } from "./overlays/text-view.ts";
import { textPane } from "./pane.ts";

export const lesson = textPane({
  name: LESSON_PANE,
  title: "Lesson",
  // The page shows the lesson beside every pane.
  isShown: ({ learning, isPage }) => learning !== undefined && !isPage,
  titleNote: (state) => sanitize(state.learning?.learner?.title ?? ""),
  textLines: lessonLines,
  keys: [
    {
      keys: ["n"],
      label: "next step",
      help: "go to the next step",
      isEnabled: (state) => state.learning?.reading !== undefined && currentLesson(state) !== undefined,
      run: (state) => update(stepBy(state, 1)),
    },
    {
      keys: ["y"],
      label: "copy",
      help: "copy the step's command",
      isEnabled: (state) => hasCommand(state),
      run: (state) => copyText(state, shownStep(state)?.command ?? "", "the command"),
    },
    {
      keys: ["v"],
      label: "select",
      help: "show the step's command without borders, to select it",
      isEnabled: (state) => hasCommand(state),
      run: (state) => update(openOverlay(state, textOverlay("Command", shownStep(state)?.command ?? ""))),
    },
    {
      keys: ["H"],
      label: "hint",
      help: "show the next hint",
      isEnabled: (state) => isAtCurrentStep(state) && (currentStep(state)?.hints ?? 0) > 0,
      run: (state) => callForLearner(state, "hint", ({ hints }) => `Hint ${hints}`),
    },
    {
      keys: ["S"],
      label: "skip",
      help: "skip the step; its results are created for you",
      isEnabled: (state) => isAtCurrentStep(state) && currentStep(state) !== undefined,
      run: (state) => callForLearner(state, "skip", () => `Skipped: ${currentStep(state)?.title}`),
    },
    boundTo({ ...lessonKey, run: openLessonForm }, (state) => state.learning?.learner),
    {
      keys: ["p"],
      label: "earlier step",
      help: "read the step before",
      isEnabled: (state) => currentLesson(state) !== undefined && shownNumber(state) > 1,
      run: (state) => update(stepBy(state, -1)),
    },
  ],
});

function lessonLines(state: UiState, width: number): string[] {
  const { theme } = state;
  const learner = state.learning?.learner;
  const shown = currentLesson(state);
  if (!learner || !shown) {
    const text = learner?.lesson === null ? "Press L to start a lesson." : "Loading the lesson …";
    return ["", styled(theme, text, "dim")];
  }
  const marks = stepMarks(theme, shown, learner);
  const step = shownStep(state);
  if (step && step.number !== learner.step) {
    const isSkipped = stepEnd(learner, step.number) !== "completed";
    const { good, skipped } = symbols(theme);
    const text = isSkipped ? `${skipped} Step skipped. Press n to go on.` : `${good} Step completed. Press n to go on.`;
    const earlier = stepLines(theme, shown, step, { ...learner, hint: null }, width);
    return [marks, "", styled(theme, text, "green"), "", ...earlier];
  }
  if (step) return [marks, "", ...stepLines(theme, shown, step, learner, width)];
  const score = `${learner.completed} of ${shown.steps.length} steps completed.`;
  const next =
    learner.next === null
      ? "This was the last lesson. Press L to repeat any."
      : `Press L to start the next lesson: ${learner.next}.`;
  return [marks, "", styled(theme, "Lesson complete.", "bold"), ...paragraph(theme, width, `${score} ${next}`)];
}

const hasCommand = (state: UiState) => (shownStep(state)?.command ?? null) !== null;

const isAtCurrentStep = (state: UiState) => state.learning?.reading === undefined;

/** The number of the shown step; after the last step, one more than their number. */
const shownNumber = (state: UiState): number =>
  shownStep(state)?.number ?? (currentLesson(state)?.steps.length ?? 0) + 1;

/** Shows the step before or after the shown one, up to the current one. */
function stepBy(state: UiState, by: number): UiState {
  const current = currentStep(state)?.number ?? (currentLesson(state)?.steps.length ?? 0) + 1;
  const step = shownNumber(state) + by;
  return readStep(state, step >= current ? undefined : Math.max(1, step));
}

const callForLearner = (state: UiState, action: "hint" | "skip", messageOf: (learner: Learner) => string) =>
  makeCall(state, controlCalls.learners[action]({ id: state.learning?.id ?? "" }), (learner) => ({
    message: messageOf(learner),
    updateState: (later) => withLearnerReply(later, learner),
  }));

/** The step numbers, each marked as completed, skipped, current or to come. */
function stepMarks(theme: Theme, { steps }: Lesson, learner: LearnerView): string {
  const { good, cursor, skipped } = symbols(theme);
  const marks = steps.map(({ number }) => {
    const how = stepEnd(learner, number);
    if (number === learner.step) return styled(theme, `${cursor}${number}`, "bold");
    if (how === "completed") return styled(theme, `${good}${number}`, "green");
    return styled(theme, `${how === undefined ? " " : skipped}${number}`, "dim");
  });
  return marks.join("  ");
}

function stepLines(
  theme: Theme,
  lesson: Lesson,
  step: LessonStep,
  { hint, hints }: LearnerView,
  width: number,
): string[] {
  const about = step.number === 1 ? proseLines(theme, lesson.about, width) : [];
  const note = `Its file ${lesson.file?.name} is in the directory where you started.`;
  const file = lesson.file && step.number === 1 ? paragraph(theme, width + INDENT, note, "dim").map(outdented) : [];
  const hintLines = hint === null ? [] : proseLines(theme, `Hint ${hints} of ${step.hints}: ${hint}`, width);
  const blocks = step.blocks.map((block) => blockLines(theme, block, width));
  const title = styled(theme, `${step.number}. ${step.title}`, "bold");
  return withBlankLines([about, file, [title], ...blocks, hintLines.map((line) => styled(theme, line, "yellow"))]);
}

const INDENT = 2;
const outdented = (line: string) => line.replace(/^ {2}/, "");

const withBlankLines = (parts: readonly (readonly string[])[]): string[] =>
  parts.filter((part) => part.length > 0).flatMap((part, index) => (index === 0 ? part : ["", ...part]));

function blockLines(theme: Theme, { kind, text }: LessonBlock, width: number): string[] {
  if (kind === "prose") return proseLines(theme, text, width);
  if (kind === "sh")
    return text
      .split("\n")
      .flatMap((line, index, all) => commandLines(theme, line, all.slice(0, index).join("\n"), width));
  return wrapped(text, width, "  | ").map((line) => styled(theme, line, "dim"));
}

/**
 * Draws a line of a command. A long line is continued after a backslash, except in single quotes, where a shell would
 * keep the backslash. `before` is the block's text before the line, which may open such quotes.
 */
export function commandLines(theme: Theme, line: string, before: string, width: number): string[] {
  const indent = /^ */.exec(line)?.[0] ?? "";
  const text = sanitize(line).trim();
  const room = Math.max(10, width - 2 * INDENT - indent.length);
  const lines = isInSingleQuotes(before) ? wrap(text, room) : shellLines(text, room);
  return lines.map(
    (one, index) => indent + " ".repeat(index === 0 ? INDENT : 2 * INDENT) + styled(theme, one, "green"),
  );
}

const isInSingleQuotes = (text: string) =>
  /["']/.exec(text.replace(/\\.|"(?:[^"\\]|\\.)*"|'[^']*'/gs, ""))?.[0] === "'";

/** The Markdown that lessons use: paragraphs, lists, links, bold and code. */
function proseLines(theme: Theme, text: string, width: number): string[] {
  const blocks = text.split(/\n{2,}/).map((block) => block.split(/\n(?=\s*(?:[-*]|\d+\.) )/));
  return withBlankLines(blocks.map((items) => items.flatMap((item) => markdownLines(theme, item, width))));
}

function markdownLines(theme: Theme, item: string, width: number): string[] {
  const [bullet = ""] = /^\s*(?:[-*]|\d+\.) /.exec(item) ?? [];
  const text = item
    .slice(bullet.length)
    .replaceAll(/\s+/g, " ")
    .replaceAll(/\[([^\]]+)\]\([^)\s]+\)/g, "$1")
    .replaceAll("**", "")
    .trim();
  let inCode = false;
  const lines = paragraph(theme, width + INDENT - bullet.length, text).map((line) => {
    const pieces = outdented(line).split("`");
    const shown = pieces.map((piece, index) => codeOr(theme, piece, index % 2 === 1 ? !inCode : inCode));
    if (pieces.length % 2 === 0) inCode = !inCode;
    return shown.join(theme.colours ? "" : "`");
  });
  return lines.map((line, index) => (index === 0 ? bullet : " ".repeat(bullet.length)) + line);
}

const codeOr = (theme: Theme, text: string, isCode: boolean) =>
  isCode && text !== "" ? styled(theme, text, "cyan") : text;
