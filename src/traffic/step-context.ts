// The context of a traffic step: its time, its random values, and the merchant's records.

import type { AnyRecord, RecordBase } from "../contracts/resource.ts";
import { isoTime } from "../kernel/clock.ts";
import type { Random } from "../kernel/random.ts";
import type { OperationContext } from "../store/operation-context.ts";
import type { Collection } from "../store/records/collection.ts";

export interface StepRandom {
  /** A random number in [0, 1), drawn by seed, step and `word`. */
  chance(word: string): number;
  /** A random integer between the two, both included. */
  between(word: string, from: number, to: number): number;
  pick<T>(word: string, of: readonly T[]): T;
}

export interface StepContext extends StepRandom {
  caller: OperationContext;
  /** The calendar day. */
  today: string;
  /** The merchant's records of a kind. */
  own(kind: string): Collection<RecordBase>;
  newest(kind: string, count: number): AnyRecord[];
  merchant(): AnyRecord;
}

export function stepRandom(random: Random, name: readonly (string | number)[]): StepRandom {
  const chance = (word: string) => random.fraction("traffic", ...name, word);
  const between = (word: string, from: number, to: number) => from + Math.floor(chance(word) * (to - from + 1));
  return { chance, between, pick: <T>(word: string, of: readonly T[]) => of[between(word, 0, of.length - 1)] as T };
}

export const dayOf = (seconds: number) => isoTime(seconds * 1_000).slice(0, 10);

interface StepOptions {
  random: StepRandom;
  caller: OperationContext;
  own: StepContext["own"];
}

export function createStepContext({ random, caller, own }: StepOptions): StepContext {
  return {
    ...random,
    caller,
    today: dayOf(caller.now),
    own,
    newest: (kind, count) => own(kind).newestOf(count) as unknown as AnyRecord[],
    merchant: () => own("merchant").require(caller.merchant) as unknown as AnyRecord,
  };
}
