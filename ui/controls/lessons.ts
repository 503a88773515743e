// The key of lessons: begin one, or one of its steps, for whoever it is.

import type { LearnerView, Lesson } from "../../src/contracts/lesson.ts";
import type { Field } from "../overlays/field.ts";
import { type Context, type Form, openForm } from "../overlays/form.ts";
import { ownCourse, withLearner } from "../state/learning.ts";
import type { Action, State } from "../state/state.ts";
import { type Answer, inPath } from "../wire/control-calls.ts";

type Whom = Pick<LearnerView, "id" | "name" | "lesson" | "step" | "next">;

/** What an answer says of the one who learns here. */
export const withAnswer = (state: State, { body }: Answer): State =>
  ownCourse(state)?.id === (body as LearnerView).id ? withLearner(state, body as LearnerView) : state;

const lessonsIn = ({ answers }: Context) => (answers.lessons as { data: Lesson[] } | undefined)?.data ?? [];

const formFor = (whom: Whom): Form => ({
  title: `A lesson for ${whom.name}`,
  asks: { lessons: { method: "GET", path: "/lessons" } },
  fields(values, context) {
    const lessons = lessonsIn(context);
    const first = whom.step === null ? (whom.next ?? whom.lesson) : whom.lesson;
    const lesson: Field = {
      name: "name",
      label: "lesson",
      words: "Which; it begins afresh",
      options: lessons.map(({ name, title, number }) => ({ value: name, label: `${number} ${title}` })),
      ...(first !== null && { first }),
    };
    const chosen = lessons.find(({ name }) => name === (values.name ?? first));
    const steps = chosen?.steps ?? [];
    return [
      lesson,
      {
        name: "checkpoint",
        label: "step",
        words: "At which step, with what those before it would have left",
        options: steps.map(({ number, title }) => ({ value: String(number), label: `${number}. ${title}` })),
      },
    ];
  },
  call: ({ name = "", checkpoint = "1" }) => ({
    method: "POST",
    path: `/learners/${inPath(whom.id)}/lesson`,
    body: { name, ...(checkpoint !== "" && checkpoint !== "1" && { checkpoint: Number(checkpoint) }) },
  }),
  done(answer) {
    const { title, step } = answer.body as LearnerView;
    return { words: `${whom.name} is at step ${step} of "${title}"`, after: (state) => withAnswer(state, answer) };
  },
});

export const lessonKey = (whom: (state: State) => Whom | undefined): Action => ({
  keys: ["L"],
  label: "lessons",
  words: "begin a lesson, or one of its steps",
  can: (state) => whom(state) !== undefined,
  run: (state) => openForm(state, formFor(whom(state) as Whom)),
});
