// How a kind declares a believable record of a merchant: the fields of a new one that its creator left out.

import type { OwnRecords, RecordBase } from "./resource.ts";

/** A record of any kind. */
export type AnyRecord = RecordBase & Readonly<Record<string, unknown>>;

/** Random values that depend only on the seed, the merchant, the kind, the number of the record and `word`. */
export interface SampleRandom {
  /** An integer between the two, both included. */
  between(word: string, from: number, to: number): number;
  pick<T>(word: string, of: readonly [T, ...T[]]): T;
  pick<T>(word: string, of: readonly T[]): T | undefined;
}

export interface SampleContext extends SampleRandom {
  /** The fields that the creator gave. */
  given: Readonly<Record<string, unknown>>;
  /** The status that the record shall reach; undefined for kinds without one. */
  status: string | undefined;
  merchant: AnyRecord;
  own: OwnRecords;
  /** Unix seconds on the sandbox clock. */
  now: number;
  /** The number of this record among those that the merchant got this way. */
  number: number;
  /** The calendar day this many days from today. */
  day(offset: number): string;
  /** The merchant's newest records of a kind, a page of them at most. */
  newest(kind: string): readonly AnyRecord[];
  /** The merchant's newest record of a kind that meets the condition, or a new one. */
  someOf(kind: string, meets?: (record: AnyRecord) => boolean): AnyRecord;
  /** A new id for a part of the record. */
  mint(prefix: string): string;
}

export type Sample = (context: SampleContext) => Record<string, unknown>;
