// How traffic plays a kind of record: how one is created, and how it moves from state to state.

import type { Scene, Some } from "./activity-context.ts";

type Fields = Record<string, unknown>;

export interface Kind {
  /** How often this kind is chosen, relative to the others. */
  weight: number;
  /** The operation that creates a record; default: it is created directly. */
  operation?: string;
  /** The fields of a new record, or the body of that operation. */
  begin(scene: Scene): Fields;
  /** The probability of each next state, by state. The rest up to 1 is the share of records that stay. */
  life: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** The fields that change when a record enters a state. */
  arrive?: Readonly<Record<string, (scene: Scene, record: Some) => Fields>>;
  /** Notes in the context what later steps may use. */
  note?(scene: Scene, record: Some): void;
}

export const money = ({ cast, between }: Scene, most: number) => ({ amount: between("amount", 5, most) * 100, currency: cast.currency });

export const whose = (scene: Scene) => ({ customerId: scene.customer()?.id ?? null });

export const number = (prefix: string, scene: Scene) => `${prefix}-${1_000 + scene.number}`;

export const monthOf = (day: string) => day.slice(0, 7);
