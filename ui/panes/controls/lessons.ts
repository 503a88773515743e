// The lesson key: starts a lesson, or one of its steps, for the learner at the dashboard.

import type { Learner, LessonsListReply } from "../../../generated/control-api.ts";
import { controlCalls } from "../../../src/client/control-call.ts";
import { withLearner } from "../../state/learning.ts";
import type { LearnerView, StateUpdate, UiState } from "../../state/state.ts";
import { openForm } from "../overlays/form.ts";
import { type Form, submission } from "../overlays/form-view.ts";

type LessonTarget = Pick<LearnerView, "id" | "name" | "lesson" | "step" | "next">;

export const withLearnerReply = (state: UiState, learner: Learner): UiState =>
  state.learning?.id === learner.id ? withLearner(state, learner) : state;

const lessonForm = (learner: LessonTarget): Form<{ lessons: LessonsListReply }> => ({
  title: `Lesson for ${learner.name}`,
  verb: () => "Start",
  fetch: { lessons: controlCalls.lessons.list() },
  fields(values, { data }) {
    const lessons = data.lessons?.data ?? [];
    // After a completed lesson, proposes the next one.
    const initial = (learner.step === null && learner.next) || learner.lesson;
    const steps = lessons.find(({ name }) => name === (values.name ?? initial))?.steps ?? [];
    return [
      {
        name: "name",
        label: "lesson",
        help: "The lesson to start",
        options: lessons.map(({ name, title, number }) => ({ value: name, label: `${number} ${title}` })),
        ...(initial !== null && { initial }),
      },
      {
        name: "step",
        label: "step",
        help: "The step to start at; the results of earlier steps are created",
        options: steps.map(({ number, title }) => ({ value: String(number), label: `${number}. ${title}` })),
      },
    ];
  },
  submission({ name = "", step = "1" }) {
    const start = step !== "" && step !== "1" && { step: Number(step) };
    return submission(controlCalls.learners.begin({ id: learner.id, name, ...start }), (begun) => ({
      message: `Started step ${begun.step} of "${begun.title}" for ${learner.name}`,
      updateState: (state) => withLearnerReply(state, begun),
    }));
  },
});

export const openLessonForm = (state: UiState, learner: LessonTarget): StateUpdate =>
  openForm(state, lessonForm(learner));

export const lessonKey = { keys: ["L"], label: "lessons", help: "start a lesson or one of its steps" };
