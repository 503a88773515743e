// The times of traffic steps: one in each slot of equal length, at a random moment of the slot.

export type StepSchedule = ReturnType<typeof createStepSchedule>;

interface SlotOptions {
  /** Milliseconds, possibly a fraction. */
  length: number;
  /** Infinity: without end. */
  count: number;
  /** The position of the step in its slot, in [0, 1). */
  chance(slot: number): number;
}

/** Up to this many missed steps are made up for on a busy machine; more mean that the clock was set forward. */
const MAX_CATCH_UP = 100;

export function createStepSchedule({ length, count, chance }: SlotOptions, start: number) {
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
    /** The index of the next slot, from 0. */
    get slot() {
      return slot;
    },
    /** When the next step is due, in sandbox milliseconds; null after the last slot. */
    due(now: number) {
      if (slot >= count) return null;
      // A due time beyond the end of the next slot means that the clock was set back.
      if (due - now > 2 * length) move(now);
      return due;
    },
    /** Moves on to the next slot. */
    step(now: number) {
      const missed = (now - due) / length;
      slot += 1;
      if (missed > MAX_CATCH_UP) move(now);
      else due = draw();
    },
  };
}
