// What a traffic step may use: its time, its random values, and the customers and products of the merchant.

import type { RecordBase } from "../contracts/resource.ts";
import { isoTime, LATEST_TIME } from "../kernel/clock.ts";
import type { Random } from "../kernel/random.ts";

const DAY = 86_400_000;

/** A record of any kind. */
export type Some = RecordBase & Record<string, unknown>;

/** The data of a merchant, read when its traffic starts. */
export interface Cast {
  currency: string | null;
  payoutMethodId: string | null;
  customers: Person[];
  goods: Goods[];
  /** The amount received since the last payout. */
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
  /** Numbers the steps of a run. */
  readonly number: number;
  /** A random number in [0, 1), different for each word. */
  chance(word: string): number;
  /** A random integer between the two, both included. */
  between(word: string, from: number, to: number): number;
  pick<T>(word: string, of: readonly T[]): T;
  /** The calendar day this many days from today. */
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

/** At most one page of customers and products: enough to choose from. */
const MOST = 100;

/** `newest` returns the newest records of a kind. */
export function readCast(newest: (kind: string, limit: number) => Some[], merchant: Some): Cast {
  return {
    currency: (merchant.currency as string | null | undefined) ?? null,
    payoutMethodId: newest("payout_method", 1)[0]?.id ?? null,
    customers: newest("customer", MOST).map(({ id, name }) => ({ id, name })),
    goods: newest("product_variant", MOST).map(({ id, productId, sku, name, price }) => ({ id, productId, sku, name, price })),
    till: 0,
  };
}
