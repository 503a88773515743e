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

/** What a busy machine is late with is made up for; a clock that leapt is not. */
const MOST_TO_CATCH_UP = 100;

export function createPace({ length, count, chance }: Slots, start: number): Pace {
  let slot = 0;
  let anchor = start;
  const draw = () => Math.floor(anchor + (slot + chance(slot)) * length);
  let due = draw();
  /** The clock was moved, and the slots go with it. */
  const move = (now: number) => {
    anchor = now - slot * length;
    due = draw();
  };
  return {
    get slot() {
      return slot;
    },
    due(now) {
      if (slot >= count) return null;
      // No due time lies further ahead than the end of the next slot.
      if (due - now > 2 * length) move(now);
      return due;
    },
    step(now) {
      const missed = (now - due) / length;
      slot += 1;
      if (missed > MOST_TO_CATCH_UP) move(now);
      else due = draw();
    },
  };
}
