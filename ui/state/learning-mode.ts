// The types of lessons in the state: whose lesson a dashboard shows, and how far the learner is.

import type { Learner, LeftStep, Lesson } from "../../generated/control-api.ts";

/** Lessons: one learner at this dashboard, or a workshop whose board it shows. */
export type LearningMode = LearnerMode | { readonly kind: "workshop" /** The join URL. */; readonly url: string };

/** A learner's progress, as a poll or the stream sends it. The two write times differently, and no display of a lesson uses them. */
export type LearnerView = Omit<Learner, "since" | "left"> & { readonly left: readonly Omit<LeftStep, "at">[] };

export interface LearnerMode {
  readonly kind: "learner";
  /** The learner's merchant. */
  readonly id: string;
  /** A learner of a workshop in a browser, who reaches nothing but their own merchant and lesson. */
  readonly isGuest?: true;
  /** The progress last received. */
  readonly learner?: LearnerView | undefined;
  /** The lesson last fetched; another than the learner's while the new one loads. */
  readonly lesson?: Lesson | undefined;
  /** The number of the earlier step that is shown; undefined for the current one. */
  readonly reading?: number | undefined;
}
