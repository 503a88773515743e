// Replaces the URL, API key and merchant id that lessons are written with by those of a learner.

import type { Lesson, LessonFile, LessonStep } from "../contracts/lesson.ts";
import type { LessonCall } from "./lesson-annotations.ts";

export interface LearnerValues {
  /** The sandbox's URL, such as http://127.0.0.1:4747. */
  url: string;
  apiKey: string;
  merchant: string;
}

/** The values that lessons are written with. */
const PLACEHOLDERS = { url: /http:\/\/127\.0\.0\.1:4747\b/g, apiKey: /\bsk_test_lodge\b/g, merchant: /\bmer_lodge\b/g };

export const personalText = (text: string, { url, apiKey, merchant }: LearnerValues) =>
  text
    .replace(PLACEHOLDERS.url, () => url)
    .replace(PLACEHOLDERS.apiKey, () => apiKey)
    .replace(PLACEHOLDERS.merchant, () => merchant);

export function personalLesson(lesson: Lesson, values: LearnerValues): Lesson {
  const steps = lesson.steps.map((step): LessonStep => {
    const blocks = step.blocks.map(({ kind, text }) => ({ kind, text: personalText(text, values) }));
    return { ...step, blocks, command: step.command === null ? null : personalText(step.command, values) };
  });
  return { ...lesson, steps, about: personalText(lesson.about, values), file: lesson.file && personalFile(lesson.file, values) };
}

const personalFile = ({ name, start, solution }: LessonFile, values: LearnerValues): LessonFile => ({
  name,
  start: personalText(start, values),
  solution: personalText(solution, values),
});

export const personalCall = (call: LessonCall, values: LearnerValues): LessonCall =>
  JSON.parse(personalText(JSON.stringify(call), values)) as LessonCall;
