// How traffic creates a kind of record and moves it from state to state.

import type { RecordBase } from "../contracts/resource.ts";
import type { JsonObject } from "../schema/schema.ts";
import type { Collection } from "../store/records/collection.ts";
import type { StepContext, TrafficRecord } from "./step-context.ts";

export interface TrafficKind {
  /** How often this kind is chosen, relative to the others. */
  weight: number;
  /** The operation that creates a record; default: it is created directly. */
  operation?: string;
  /** The fields of a new record, or the body of that operation. */
  newRecord(step: StepContext): JsonObject;
  /** The probability of each next state, by state. The rest up to 1 is the share of records that stay. */
  transitions: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** What the merchant does before a record enters a state, such as buying stock. */
  prepare?: Readonly<Record<string, (record: TrafficRecord, merchant: MerchantRecords) => void>>;
  /** The fields that change when a record enters a state. */
  onEnter?: Readonly<Record<string, (step: StepContext, record: TrafficRecord) => JsonObject>>;
  /** Updates the merchant data that later steps use. */
  afterStep?(step: StepContext, record: TrafficRecord): void;
}

/** The merchant's records of a kind. */
export type MerchantRecords = (kind: string) => Collection<RecordBase>;

export const money = ({ merchantData, between }: StepContext, most: number) => ({
  amount: between("amount", 5, most) * 100,
  currency: merchantData.currency,
});

export const customerField = (step: StepContext) => ({ customerId: step.customer()?.id ?? null });

export const number = (prefix: string, step: StepContext) => `${prefix}-${1_000 + step.number}`;

export const monthOf = (day: string) => day.slice(0, 7);
