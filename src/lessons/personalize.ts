// A lesson as one learner sees it: its address, its key and its merchant where the page has those of the first one.

import type { Lesson, LessonFile, LessonStep } from "../contracts/lesson.ts";
import type { WrittenCall } from "./lesson-annotations.ts";

export interface Own {
  /** Where the sandbox is for the learner, such as http://127.0.0.1:4747. */
  url: string;
  apiKey: string;
  merchant: string;
}

/** What lessons are written with. */
const WRITTEN = { url: /http:\/\/127\.0\.0\.1:4747\b/g, apiKey: /\bsk_test_lodge\b/g, merchant: /\bmer_lodge\b/g };

const own = (text: string, { url, apiKey, merchant }: Own) =>
  text
    .replace(WRITTEN.url, () => url)
    .replace(WRITTEN.apiKey, () => apiKey)
    .replace(WRITTEN.merchant, () => merchant);

export function personal(lesson: Lesson, whose: Own): Lesson {
  const steps = lesson.steps.map((step): LessonStep => {
    const blocks = step.blocks.map(({ kind, text }) => ({ kind, text: own(text, whose) }));
    return { ...step, blocks, command: step.command === null ? null : own(step.command, whose) };
  });
  return { ...lesson, steps, about: own(lesson.about, whose), file: lesson.file && personalFile(lesson.file, whose) };
}

const personalFile = ({ name, start, solution }: LessonFile, whose: Own): LessonFile => ({
  name,
  start: own(start, whose),
  solution: own(solution, whose),
});

export const personalText = own;

export const personalCall = (call: WrittenCall, whose: Own): WrittenCall => JSON.parse(own(JSON.stringify(call), whose)) as WrittenCall;
