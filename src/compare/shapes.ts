// The ways in which a service of another hand writes everything differently, each found once, with what a client must do about it.

import { MOST_ENTRIES } from "./recording.ts";

const SHAPES = {
  names: "names of another case style: convert the names of fields in one place of the client",
  envelope: "replies in an envelope: unwrap each reply before the client reads it",
  pagination: "another pagination: follow the service's own field to the next page",
  amounts: "amounts in another form: convert them to integers in the smallest unit where the client reads them",
  times: "times in another form: convert them where the client reads them",
  ids: "ids without the sandbox's prefixes: do not read the kind of a record from its id",
  errors: "errors of another form: read the code and the invalid fields from where the service has them",
  events: "the record of an event in a field of its data: read it from there",
  signature: "signatures of another form: verify them as the service signs",
  unknown: "replies that are not recognised: check that the address is that of this service",
} as const;

export type ShapeKind = keyof typeof SHAPES;

export interface Shape {
  kind: ShapeKind;
  advice: string;
  /** A few examples, such as `merchant_id for merchantId`. */
  seen: string[];
  count: number;
  entries: string[];
}

const MOST_EXAMPLES = 3;

export function createShapes() {
  const found = new Map<ShapeKind, Shape>();
  return {
    /** In the order in which they are declared. */
    all: () => (Object.keys(SHAPES) as ShapeKind[]).flatMap((kind) => found.get(kind) ?? []),
    note(kind: ShapeKind, example: string, entry: string): void {
      const shape = found.get(kind) ?? { kind, advice: SHAPES[kind], seen: [], count: 0, entries: [] };
      found.set(kind, shape);
      shape.count++;
      if (shape.seen.length < MOST_EXAMPLES && !shape.seen.includes(example)) shape.seen.push(example);
      if (shape.entries.length < MOST_ENTRIES && shape.entries.at(-1) !== entry) shape.entries.push(entry);
    },
  };
}
