// The lesson key: starts a lesson, or one of its steps, for the learner at the dashboard or on the board.

import { controlCalls } from "../../src/client/control-call.ts";
import type { LearnerView, Lesson } from "../../src/contracts/lesson.ts";
import type { FormField } from "../overlays/field.ts";
import { type Form, type FormContext, openForm } from "../overlays/form.ts";
import { learnerMode, withLearner } from "../state/learning.ts";
import { type KeyBinding, type UiState, update } from "../state/state.ts";
import type { Answer } from "../wire/control-calls.ts";

type LessonTarget = Pick<LearnerView, "id" | "name" | "lesson" | "step" | "next">;

/** Applies a reply about the dashboard's own learner. */
export const withLearnerReply = (state: UiState, { body }: Answer): UiState =>
  learnerMode(state)?.id === (body as LearnerView).id ? withLearner(state, body as LearnerView) : state;

const lessonsIn = ({ data }: FormContext) => (data.lessons as { data: Lesson[] } | undefined)?.data ?? [];

const lessonForm = (learner: LessonTarget): Form => ({
  title: `Lesson for ${learner.name}`,
  fetch: { lessons: controlCalls.lessons.list() },
  fields(values, context) {
    const lessons = lessonsIn(context);
    // After a completed lesson, the next one.
    const initial = learner.step === null ? (learner.next ?? learner.lesson) : learner.lesson;
    const lesson: FormField = {
      name: "name",
      label: "lesson",
      help: "The lesson to start",
      options: lessons.map(({ name, title, number }) => ({ value: name, label: `${number} ${title}` })),
      ...(initial !== null && { initial }),
    };
    const steps = lessons.find(({ name }) => name === (values.name ?? initial))?.steps ?? [];
    return [
      lesson,
      {
        name: "checkpoint",
        label: "step",
        help: "The step to start at; the results of earlier steps are created",
        options: steps.map(({ number, title }) => ({ value: String(number), label: `${number}. ${title}` })),
      },
    ];
  },
  call: ({ name = "", checkpoint = "1" }) =>
    controlCalls.learners.begin({
      id: learner.id,
      name,
      ...(checkpoint !== "" && checkpoint !== "1" && { checkpoint: Number(checkpoint) }),
    }),
  onReply(reply) {
    const { title, step } = reply.body as LearnerView;
    return { message: `Started step ${step} of "${title}" for ${learner.name}`, updateState: (state) => withLearnerReply(state, reply) };
  },
});

export const lessonKey = (learnerOf: (state: UiState) => LessonTarget | undefined): KeyBinding => ({
  keys: ["L"],
  label: "lessons",
  help: "start a lesson or one of its steps",
  isEnabled: (state) => learnerOf(state) !== undefined,
  run(state) {
    const learner = learnerOf(state);
    return learner ? openForm(state, lessonForm(learner)) : update(state);
  },
});
