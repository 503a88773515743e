// The pane of a workshop's board: every learner's step and time, and who has been on a step longest.

import type { Learner } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import { lessonKey, openLessonForm } from "../controls/lessons.ts";
import { copyApiKey } from "../controls/sandbox-forms.ts";
import { labelled, paragraph, section, sectionOf } from "../details/detail-lines.ts";
import { requestLinks, requestsOf } from "../details/row-lines.ts";
import { confirmCall } from "../overlays/text-view.ts";
import { BOARD_PANE } from "../state/learning.ts";
import { type UiState, valuesOf } from "../state/state.ts";
import { copyText, makeCall } from "../state/updates.ts";
import { sanitize } from "../view/cells.ts";
import { count, countdown, plural } from "../view/format.ts";
import { styled, symbols, type Theme } from "../view/style.ts";
import { listPane } from "./pane.ts";

const joinUrl = ({ learning }: UiState) => (learning?.kind === "workshop" ? learning.url : "");

export const board = listPane<Learner>({
  name: BOARD_PANE,
  title: "Board",
  isShown: ({ learning }) => learning?.kind === "workshop",
  rowId: ({ id }) => id,
  filterBy: ({ name, lesson, step, hints }) => ({
    text: `${name} ${lesson ?? ""}`,
    fields: { name, lesson, step, hints },
  }),
  poll: controlCalls.learners.list(),
  titleNote(state) {
    const learners = valuesOf<Learner>(state, BOARD_PANE);
    const done = learners.filter(isDone).length;
    if (learners.length === 0) return "";
    return `${plural(learners.length, "learner")}${done > 0 ? `, ${count(done)} done` : ""}  ${joinUrl(state)}`;
  },
  columns(learner, state) {
    const { name, lesson, step, steps, stepTitle, completed, hints, elapsed } = learner;
    const done = isDone(learner);
    const reached = step === null ? "" : `${step}/${steps}`;
    const progress = done ? `${completed}/${steps}` : reached;
    return [
      { heading: "learner", text: name, width: 18 },
      { heading: "lesson", text: lesson ?? "-", width: 14, styles: ["dim"], hideBelow: 66 },
      { heading: "step", text: progress, width: 5, align: "right" },
      {
        heading: "time",
        text: done ? "done" : countdown(elapsed / 1_000),
        width: 6,
        align: "right",
        styles: done ? ["bold"] : [],
      },
      { text: slowestLearner(state) === learner.id ? "longest" : "", width: 7, styles: ["bold"] },
      { heading: "hints", text: hints === 0 ? "" : plural(hints, "hint"), width: 8 },
      { heading: "on", text: stepTitle ?? "", styles: ["dim"], hideBelow: 80 },
    ];
  },
  emptyText: (state) => [
    "No learners yet. To join with the program, run:",
    "",
    `npx merchant-sandbox learn --join ${joinUrl(state)} --name NAME`,
    "",
    "To join with a browser, open the first URL. The second is the board, to project:",
    "",
    `${joinUrl(state)}/join`,
    `${joinUrl(state)}/board`,
  ],
  detail: (opened) => ({
    title: opened.name,
    lines(_data, state, width) {
      const { theme } = state;
      const newest = valuesOf<Learner>(state, BOARD_PANE).find(({ id }) => id === opened.id);
      const { id, title, step, steps, stepTitle, completed, hints, hint, elapsed, finishedSteps } = newest ?? opened;
      const progress =
        step === null ? `none, ${count(completed)} of ${count(steps)} completed` : `${step} of ${steps}: ${stepTitle}`;
      return [
        ...labelled(theme, width, "merchant", id),
        ...labelled(theme, width, "lesson", title ?? "none yet"),
        ...labelled(theme, width, "step", progress),
        ...(step === null ? [] : labelled(theme, width, "time on step", countdown(elapsed / 1_000))),
        ...(hints === 0 ? [] : labelled(theme, width, "hints", count(hints))),
        ...(hint === null ? [] : section(theme, "Current hint", paragraph(theme, width, hint))),
        ...sectionOf(theme, "Past steps, oldest first", finishedSteps, (past) => [pastStepLine(theme, past)]),
        ...requestLinks(theme, "Requests", requestsOf(state, id), width),
        ...(newest
          ? []
          : section(theme, "Removed", paragraph(theme, width, "This learner is no longer on the board."))),
      ];
    },
  }),
  listKeys: [
    {
      keys: ["y"],
      label: "copy URL",
      help: "copy the URL where learners join",
      run: (state) => copyText(state, joinUrl(state), joinUrl(state)),
    },
  ],
  keys: [
    {
      keys: ["H"],
      label: "hint",
      help: "show the learner a hint",
      isEnabled: (_, { step }) => step !== null,
      run: (state, { id, name }) =>
        makeCall(state, controlCalls.learners.hint({ id }), () => ({ message: `Showed ${name} a hint` })),
    },
    {
      keys: ["S"],
      label: "skip",
      help: "skip the learner's step; its results are created",
      isEnabled: (_, { step }) => step !== null,
      run: (state, { id, name }) =>
        makeCall(state, controlCalls.learners.skip({ id }), () => ({ message: `Skipped a step for ${name}` })),
    },
    { ...lessonKey, run: openLessonForm },
    {
      keys: ["d"],
      label: "remove",
      help: "remove the learner and their progress",
      run: (state, { id, name }) =>
        confirmCall(state, `Remove ${name} and their progress?`, controlCalls.learners.remove({ id }), () => ({
          message: `Removed ${name}`,
        })),
    },
    copyApiKey(({ id }) => id),
  ],
});

const isDone = ({ lesson, step }: Learner) => lesson !== null && step === null;

/** The learner who has been on a step longest; undefined when fewer than two learners are on a step. */
function slowestLearner(state: UiState): string | undefined {
  const busy = valuesOf<Learner>(state, BOARD_PANE).filter(({ step }) => step !== null);
  const [slowest] = busy.toSorted((one, other) => other.elapsed - one.elapsed);
  return busy.length > 1 ? slowest?.id : undefined;
}

function pastStepLine(theme: Theme, { lesson, step, how }: Learner["finishedSteps"][number]): string {
  const { good, skipped } = symbols(theme);
  const isCompleted = how === "completed";
  const text = `  ${isCompleted ? good : skipped} ${sanitize(lesson)} ${step}  ${how}`;
  return isCompleted ? text : styled(theme, text, "dim");
}
