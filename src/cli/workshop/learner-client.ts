// Where somebody learns: at a sandbox of their own, or in a room that another machine holds open.

import type { LearnerView, Lesson } from "../../contracts/lesson.ts";
import { realDelay } from "../../kernel/clock.ts";
import { note } from "../command.ts";
import type { Running } from "../remote/running-sandbox.ts";

export interface Place {
  learner: LearnerView;
  /** Ready to be run; null before the first. */
  lesson: Lesson | null;
}

export interface Seat {
  place(): Promise<Place>;
  begin(lesson: string, checkpoint?: number): Promise<Place>;
  skip(): Promise<Place>;
  hint(): Promise<Place>;
}

/** At a sandbox whose control plane is open to us. */
export function ownSeat({ control }: Running, id: string): Seat {
  const withLesson = async (learner: LearnerView): Promise<Place> => {
    const { lesson } = learner;
    return { learner, lesson: lesson === null ? null : await control<Lesson>("GET", `/lessons/${lesson}?learner=${id}`) };
  };
  const post = async (path: string, body?: unknown) => withLesson(await control<LearnerView>("POST", `/learners/${id}${path}`, body));
  return {
    place: async () => withLesson(await control<LearnerView>("GET", `/learners/${id}`)),
    begin: (name, checkpoint) => post("/lesson", { name, checkpoint }),
    skip: () => post("/skip"),
    hint: () => post("/hint"),
  };
}

/** In a room, where the learner's own key is all that is needed. `url` is the learner's place in it. */
export function roomSeat({ control }: Running, path: string): Seat {
  return {
    place: () => control("GET", path),
    begin: (name, checkpoint) => control("POST", `${path}/lesson`, { name, checkpoint }),
    skip: () => control("POST", `${path}/skip`),
    hint: () => control("POST", `${path}/hint`),
  };
}

const WAIT = "25s";
const TRY_AGAIN_AFTER = 1_000;

/** Tells how somebody in a room stands whenever that is another, until it is ended. A room that is away for a moment is waited for. */
export function followRoom({ control }: Running, path: string, first: Place, heard: (place: Place) => void): () => void {
  let ended = false;
  const follow = async () => {
    let { version } = first.learner;
    let isAway = false;
    while (!ended) {
      const place = await control<Place>("GET", `${path}?after=${version}&within=${WAIT}`).catch((error: Error) => {
        if (!isAway && !ended) note(`${error.message} Trying again.`);
        isAway = true;
      });
      if (!place) await realDelay(TRY_AGAIN_AFTER);
      else {
        isAway = false;
        if (place.learner.version !== version && !ended) heard(place);
        ({ version } = place.learner);
      }
    }
  };
  void follow();
  return () => {
    ended = true;
  };
}
