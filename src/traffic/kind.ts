// What it takes to say what may happen to a kind of record: how one begins, and where it goes from each state.

import type { Scene, Some } from "./activity-context.ts";

type Fields = Record<string, unknown>;

export interface Kind {
  /** How often something happens to it, beside the others. */
  weight: number;
  /** The operation that brings one into being; without one it is made as it is. */
  operation?: string;
  /** The fields of a new one, or the body of that operation. */
  begin(scene: Scene): Fields;
  /** How likely each next state is, from each state; what is left of 1 is the share of those that stay. */
  life: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** The fields that change on the way into a state. */
  arrive?: Readonly<Record<string, (scene: Scene, record: Some) => Fields>>;
  /** What others may draw on once it is as it is. */
  note?(scene: Scene, record: Some): void;
}

export const money = ({ cast, between }: Scene, most: number) => ({ amount: between("amount", 5, most) * 100, currency: cast.currency });

export const whose = (scene: Scene) => ({ customerId: scene.customer()?.id ?? null });

export const number = (prefix: string, scene: Scene) => `${prefix}-${1_000 + scene.number}`;

export const monthOf = (day: string) => day.slice(0, 7);
