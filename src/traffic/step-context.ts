// The context of a traffic step: its time, its random values, and the merchant's customers and products.

import type { RecordBase } from "../contracts/resource.ts";
import { isoTime, LATEST_TIME } from "../kernel/clock.ts";
import type { Random } from "../kernel/random.ts";

const DAY = 86_400_000;

/** A record of any kind. */
export type TrafficRecord = RecordBase & Record<string, unknown>;

/** A merchant's data, read when its traffic starts. */
export interface MerchantData {
  currency: string | null;
  payoutMethodId: string | null;
  customers: Customer[];
  goods: ProductVariant[];
  /** The amount received since the last payout. */
  unpaidOut: number;
}

export interface Customer {
  id: string;
  name: unknown;
}

interface ProductVariant {
  id: string;
  productId: unknown;
  sku: unknown;
  name: unknown;
  price: unknown;
}

export type StepContext = ReturnType<typeof createStepContext>;

export function createStepContext(merchantData: MerchantData, random: Random, name: readonly (string | number)[], time: number) {
  const chance = (word: string) => random.fraction("traffic", ...name, word);
  const between = (word: string, from: number, to: number) => from + Math.floor(chance(word) * (to - from + 1));
  const pick = <T>(word: string, of: readonly T[]) => of[between(word, 0, of.length - 1)] as T;
  return {
    merchantData,
    /** Unix seconds. */
    now: Math.floor(time / 1000),
    /** The number of the step in its run. */
    number: Number(name.at(-1)),
    /** A random number in [0, 1), drawn by seed, step and `word`. */
    chance,
    /** A random integer between the two, both included. */
    between,
    pick,
    /** The calendar day this many days from today. */
    day: (from: number) => isoTime(Math.min(Math.max(time + from * DAY, 0), LATEST_TIME)).slice(0, 10),
    customer: () => (merchantData.customers.length > 0 ? pick("customer", merchantData.customers) : undefined),
  };
}

/** Customers and products to choose from: one page of each at most. */
const PAGE_SIZE = 100;

/** `newest` returns the newest records of a kind. */
export function readMerchantData(newest: (kind: string, limit: number) => TrafficRecord[], merchant: TrafficRecord): MerchantData {
  return {
    currency: (merchant.currency as string | null | undefined) ?? null,
    payoutMethodId: newest("payout_method", 1)[0]?.id ?? null,
    customers: newest("customer", PAGE_SIZE).map(({ id, name }) => ({ id, name })),
    goods: newest("product_variant", PAGE_SIZE).map(({ id, productId, sku, name, price }) => ({ id, productId, sku, name, price })),
    unpaidOut: 0,
  };
}
