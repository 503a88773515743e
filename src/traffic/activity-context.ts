// What a happening may draw on: the moment, the random, the merchant's own people and goods.

import type { RecordBase } from "../contracts/resource.ts";
import { isoTime, LATEST_TIME } from "../kernel/clock.ts";
import type { Random } from "../kernel/random.ts";

const DAY = 86_400_000;

/** A record as it is read back, whatever its kind. */
export type Some = RecordBase & Record<string, unknown>;

/** What a merchant is known by, read when the traffic begins. */
export interface Cast {
  currency: string | null;
  payoutMethodId: string | null;
  customers: Person[];
  goods: Goods[];
  /** What was taken in since the last payout. */
  till: number;
}

export interface Person {
  id: string;
  name: unknown;
}

interface Goods {
  id: string;
  productId: unknown;
  sku: unknown;
  name: unknown;
  price: unknown;
}

export interface Scene {
  readonly cast: Cast;
  /** Unix seconds. */
  readonly now: number;
  /** Tells this happening from the others. */
  readonly number: number;
  /** In [0, 1); another for each word. */
  chance(word: string): number;
  /** A whole number from one to the other, both included. */
  between(word: string, from: number, to: number): number;
  pick<T>(word: string, of: readonly T[]): T;
  /** The calendar day so many days from today. */
  day(from: number): string;
  customer(): Person | undefined;
}

export function openScene(cast: Cast, random: Random, name: readonly (string | number)[], time: number): Scene {
  const chance = (word: string) => random.fraction("traffic", ...name, word);
  const between = (word: string, from: number, to: number) => from + Math.floor(chance(word) * (to - from + 1));
  const pick = <T>(word: string, of: readonly T[]) => of[between(word, 0, of.length - 1)] as T;
  return {
    cast,
    now: Math.floor(time / 1000),
    number: Number(name.at(-1)),
    chance,
    between,
    pick,
    day: (from) => isoTime(Math.min(Math.max(time + from * DAY, 0), LATEST_TIME)).slice(0, 10),
    customer: () => (cast.customers.length > 0 ? pick("customer", cast.customers) : undefined),
  };
}

/** Customers and goods of one page at most: enough to choose from. */
const MOST = 100;

/** `newest` answers the newest records of a kind. */
export function readCast(newest: (kind: string, limit: number) => Some[], merchant: Some): Cast {
  return {
    currency: (merchant.currency as string | null | undefined) ?? null,
    payoutMethodId: newest("payout_method", 1)[0]?.id ?? null,
    customers: newest("customer", MOST).map(({ id, name }) => ({ id, name })),
    goods: newest("product_variant", MOST).map(({ id, productId, sku, name, price }) => ({ id, productId, sku, name, price })),
    till: 0,
  };
}
