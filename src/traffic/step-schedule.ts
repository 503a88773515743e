// The times of traffic steps: one in each slot of equal length, at a random moment of the slot.

export interface StepSchedule {
  /** The index of the next slot, from 0. */
  readonly slot: number;
  /** When the next step is due, in sandbox milliseconds; null after the last slot. */
  due(now: number): number | null;
  /** Moves on to the next slot. */
  step(now: number): void;
}

interface SlotOptions {
  /** Milliseconds, possibly a fraction. */
  length: number;
  count: number;
  /** The position of the step in its slot, in [0, 1). */
  chance(slot: number): number;
}

/** Up to this many missed steps are made up for on a busy machine; more mean that the clock was set forward. */
const MAX_CATCH_UP = 100;

export function createStepSchedule({ length, count, chance }: SlotOptions, start: number): StepSchedule {
  let slot = 0;
  let anchor = start;
  const draw = () => Math.floor(anchor + (slot + chance(slot)) * length);
  let due = draw();
  /** Moves the slots along with a clock that was set. */
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
      // A due time beyond the end of the next slot means that the clock was set back.
      if (due - now > 2 * length) move(now);
      return due;
    },
    step(now) {
      const missed = (now - due) / length;
      slot += 1;
      if (missed > MAX_CATCH_UP) move(now);
      else due = draw();
    },
  };
}
