// The types of the state of lessons: whose lesson a dashboard shows, and the learner's progress.

import type { FinishedStep, Learner, Lesson } from "../../generated/control-api.ts";

/** The lesson of one learner at this dashboard, or a workshop whose board it shows. */
export type LearningMode = LearnerMode | { readonly kind: "workshop" /** The join URL. */; readonly url: string };

/** A learner's progress, as a poll or the stream sends it. Leaves out times, which the two write differently and no display of a lesson uses. */
export type LearnerView = Omit<Learner, "since" | "finishedSteps"> & { readonly finishedSteps: readonly Omit<FinishedStep, "at">[] };

export interface LearnerMode {
  readonly kind: "learner";
  /** The learner's merchant. */
  readonly id: string;
  /** A learner of a workshop in a browser, who can access only their own merchant and lesson. */
  readonly isGuest?: true;
  readonly learner?: LearnerView | undefined;
  /** The lesson last fetched. While the learner's new lesson loads, this is the earlier one. */
  readonly lesson?: Lesson | undefined;
  /** The number of the earlier step that is shown; undefined for the current one. */
  readonly reading?: number | undefined;
}
