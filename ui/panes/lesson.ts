// The pane of a lesson: the step that somebody is at, read beside what comes of it.

import { lessonKey, withAnswer } from "../controls/lessons.ts";
import { sentences } from "../details/detail-lines.ts";
import { stepLines, tickLine } from "../details/lesson-text.ts";
import { LESSON, lessonOf, ownCourse, stepOf } from "../state/learning.ts";
import { type Action, also, calls, type State, say } from "../state/state.ts";
import { harmless } from "../terminal/cells.ts";
import { tint } from "../terminal/style.ts";
import { inPath } from "../wire/control-calls.ts";
import { reading } from "./pane.ts";

export const lesson = reading({
  name: LESSON,
  title: "Lesson",
  isOn: (state) => ownCourse(state) !== undefined,
  mark(state) {
    const { title = null } = ownCourse(state)?.learner ?? {};
    return title === null ? "" : harmless(title);
  },
  reads: lessonLines,
  actions: lessonActions(),
});

function lessonLines(state: State, width: number): string[] {
  const { look } = state;
  const learner = ownCourse(state)?.learner;
  const read = lessonOf(state);
  if (!learner || !read) return ["", tint(look, learner?.lesson === null ? "L begins a lesson." : "Fetching the lesson …", "dim")];
  const step = stepOf(state);
  const ticks = tickLine(look, read, learner);
  if (step) return [ticks, "", ...stepLines(look, read, step, learner, width)];
  const score = `${learner.ticked} of ${read.steps.length} steps ticked.`;
  const next =
    learner.next === null ? "It was the last one; L begins any of them again." : `L begins another: the next one is ${learner.next}.`;
  return [ticks, "", tint(look, "The lesson is over.", "bold"), ...sentences(look, width, `${score} ${next}`)];
}

function lessonActions(): readonly Action[] {
  const at = (path: string) => (state: State) =>
    ({ method: "POST", path: `/learners/${inPath(ownCourse(state)?.id ?? "")}/${path}` }) as const;
  const [hint, skip] = [at("hint"), at("skip")];
  return [
    {
      keys: ["y"],
      label: "copy",
      words: "copy the command of the step",
      can: (state) => (stepOf(state)?.command ?? null) !== null,
      run: (state) =>
        also(say(state, "Copied. Where the terminal lets nobody copy: s shows the command without a frame"), {
          kind: "copy",
          text: stepOf(state)?.command ?? "",
        }),
    },
    {
      keys: ["H"],
      label: "hint",
      words: "show a hint, or the next one",
      can: (state) => (stepOf(state)?.hints ?? 0) > 0,
      run: (state) => calls(state, hint(state), ({ body }) => hintWords(body), withAnswer),
    },
    {
      keys: ["S"],
      label: "skip",
      words: "leave the step out: what it would have left is brought about",
      can: (state) => stepOf(state) !== undefined,
      run: (state) => calls(state, skip(state), () => `Left out: ${stepOf(state)?.title}`, withAnswer),
    },
    lessonKey((state) => ownCourse(state)?.learner),
  ];
}

const hintWords = (learner: unknown) => `Hint ${(learner as { hints: number }).hints}`;
