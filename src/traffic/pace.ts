// When something happens: once in each slot of a given length, at a moment of it that is drawn.

export interface Pace {
  /** Which slot is next, from 0. */
  readonly slot: number;
  /** When something happens next, in sandbox milliseconds; null when all slots are over. */
  due(now: number): number | null;
  /** What was due happened. */
  step(now: number): void;
}

interface Slots {
  /** Milliseconds; need not be whole. */
  length: number;
  count: number;
  /** Where in a slot it happens, in [0, 1). */
  chance(slot: number): number;
}

/** A clock that was moved is not caught up with beyond this. */
const MOST_TO_CATCH_UP = 100;

export function createPace({ length, count, chance }: Slots, start: number): Pace {
  let slot = 0;
  let anchor = start;
  const draw = () => Math.floor(anchor + (slot + chance(slot)) * length);
  let due = draw();
  return {
    get slot() {
      return slot;
    },
    due(now) {
      if (slot >= count) return null;
      // Further ahead than the end of the next slot: the clock was set back, and the slots come with it.
      if (due - now > 2 * length) {
        anchor = now - slot * length;
        due = draw();
      }
      return due;
    },
    step(now) {
      const missed = Math.floor((now - due) / length);
      slot += missed > MOST_TO_CATCH_UP ? missed + 1 : 1;
      due = draw();
    },
  };
}
