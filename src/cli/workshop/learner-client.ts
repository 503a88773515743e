// The actions of a learner, in their own sandbox or in a workshop room on another machine.

import type { Learner, Lesson } from "../../../generated/control-api.ts";
import { realDelay } from "../../kernel/clock.ts";
import { note } from "../output/print.ts";
import type { RunningSandbox } from "../remote/running-sandbox.ts";

/** Where a learner is; `lesson` is null before the first one. */
export interface LearnerPlace {
  learner: Learner;
  lesson: Lesson | null;
}

export interface LearnerClient {
  /** With a version, waits until the learner's is newer, at most 25 s. */
  place(after?: number): Promise<LearnerPlace>;
  begin(lesson: string, checkpoint?: number): Promise<LearnerPlace>;
  skip(): Promise<LearnerPlace>;
  hint(): Promise<LearnerPlace>;
}

/** A learner of a sandbox whose control token we have, or of which we have the learner's key. */
export function learnerClient({ control: { learners, lessons } }: Pick<RunningSandbox, "control">, id: string): LearnerClient {
  const withLesson = async (learner: Learner): Promise<LearnerPlace> => {
    const { lesson: name } = learner;
    return { learner, lesson: name === null ? null : await lessons.get({ name, learner: id }) };
  };
  return {
    place: async (after) => withLesson(await learners.get({ id, ...(after !== undefined && { after, within: POLL_TIMEOUT }) })),
    begin: async (name, checkpoint) => withLesson(await learners.begin({ id, name, ...(checkpoint !== undefined && { checkpoint }) })),
    skip: async () => withLesson(await learners.skip({ id })),
    hint: async () => withLesson(await learners.hint({ id })),
  };
}

const POLL_TIMEOUT = "25s";
const RETRY_AFTER = 1_000;

/** Calls `changed` with each new place, by long polling, until the returned function is called. Retries while the sandbox is unreachable. */
export function followLearner(client: LearnerClient, first: LearnerPlace, changed: (place: LearnerPlace) => void): () => void {
  let ended = false;
  const follow = async () => {
    let { version } = first.learner;
    let isUnreachable = false;
    while (!ended) {
      const place = await client.place(version).catch((error: Error) => {
        if (!isUnreachable && !ended) note(`${error.message} Retrying.`);
        isUnreachable = true;
      });
      if (!place) await realDelay(RETRY_AFTER);
      else {
        isUnreachable = false;
        if (place.learner.version !== version && !ended) changed(place);
        ({ version } = place.learner);
      }
    }
  };
  void follow();
  return () => {
    ended = true;
  };
}
