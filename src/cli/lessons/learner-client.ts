// Calls of the lessons' API for one learner. Each returns the learner and the lesson after the call.

import type { Learner, Lesson } from "../../../generated/control-api.ts";
import type { Sandbox } from "../../sandbox/create.ts";

/** A learner and the current lesson; null before the first lesson. */
export interface LearnerPlace {
  learner: Learner;
  lesson: Lesson | null;
}

export type LearnerClient = ReturnType<typeof learnerClient>;

export function learnerClient({ learners, lessons }: Pick<Sandbox, "learners" | "lessons">, id: string) {
  const placeOf = async (learner: Learner): Promise<LearnerPlace> => {
    const { lesson: name } = learner;
    return { learner, lesson: name === null ? null : await lessons.get({ name, learner: id }) };
  };
  return {
    place: async () => placeOf(await learners.get({ id })),
    begin: async (name: string, step?: number) =>
      placeOf(await learners.begin({ id, name, ...(step !== undefined && { step }) })),
    skip: async () => placeOf(await learners.skip({ id })),
    hint: async () => placeOf(await learners.hint({ id })),
  };
}
