// The actions of a learner, in their own sandbox or in a workshop room on another machine.

import type { Place } from "../../../generated/control-api.ts";
import { realDelay } from "../../kernel/clock.ts";
import { note } from "../output/print.ts";
import type { RunningSandbox } from "../remote/running-sandbox.ts";

/** Where a learner is; `lesson` is null before the first one. */
export type LearnerPlace = Pick<Place, "learner" | "lesson">;

export interface LearnerClient {
  place(): Promise<LearnerPlace>;
  begin(lesson: string, checkpoint?: number): Promise<LearnerPlace>;
  skip(): Promise<LearnerPlace>;
  hint(): Promise<LearnerPlace>;
}

/** A learner on a sandbox whose control API we may use. */
export function ownLearnerClient({ control: { learners, lessons } }: RunningSandbox, id: string): LearnerClient {
  const withLesson = async (learner: LearnerPlace["learner"]): Promise<LearnerPlace> => {
    const { lesson: name } = learner;
    return { learner, lesson: name === null ? null : await lessons.get({ name, learner: id }) };
  };
  return {
    place: async () => withLesson(await learners.get({ id })),
    begin: async (name, checkpoint) => withLesson(await learners.begin({ id, name, ...(checkpoint !== undefined && { checkpoint }) })),
    skip: async () => withLesson(await learners.skip({ id })),
    hint: async () => withLesson(await learners.hint({ id })),
  };
}

/** A learner in a room: the code in the room's address, and the learner's own API key. */
export interface RoomLearner {
  room: string;
  key: string;
}

export const roomLearnerClient = ({ control: { room } }: RunningSandbox, learner: RoomLearner): LearnerClient => ({
  place: () => room.place(learner),
  begin: (name, checkpoint) => room.begin({ ...learner, name, ...(checkpoint !== undefined && { checkpoint }) }),
  skip: () => room.skip(learner),
  hint: () => room.hint(learner),
});

const POLL_TIMEOUT = "25s";
const RETRY_AFTER = 1_000;

/** Calls `changed` with each new place, by long polling, until the returned function is called. Retries while the room is unreachable. */
export function followRoom(
  { control: { room } }: RunningSandbox,
  learner: RoomLearner,
  first: LearnerPlace,
  changed: (place: LearnerPlace) => void,
): () => void {
  let ended = false;
  const follow = async () => {
    let { version } = first.learner;
    let isUnreachable = false;
    while (!ended) {
      const place = await room.place({ ...learner, after: version, within: POLL_TIMEOUT }).catch((error: Error) => {
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
