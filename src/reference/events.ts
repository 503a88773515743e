// The events that tell receivers of changes: their envelope, and every type that a record or an operation of the catalogue makes.

import type { Resource } from "../contracts/resource.ts";
import { type Assumption, assumed, factOf, isAssumed } from "../schema/assumed.ts";
import { id, oneOf, type TSchema, Type, text, timestamp } from "../schema/shapes.ts";
import type { Declared } from "./api-surface.ts";
import { titledSchemas } from "./subschemas.ts";

const ENVELOPE_WHY = "The document lists four fields of an event; this one is common and spares the receiver a call.";

export const envelope = Type.Object(
  {
    id: id("evt", "The same on every attempt: what a receiver recognises a repeated delivery by"),
    object: assumed(oneOf(["event"], "The kind of the record"), ENVELOPE_WHY),
    type: text("What happened, such as `payment.succeeded`"),
    created: assumed(timestamp("When it happened"), ENVELOPE_WHY),
    livemode: Type.Boolean({ const: false, description: "Always false: no money moves here" }),
    merchantId: assumed(id("mer", "Whose event it is"), ENVELOPE_WHY),
    data: assumed(
      Type.Record(Type.Unknown(), { description: "The record that changed, as it was at that moment" }),
      "The document shows an amount directly in the data of a test event: so the data is the record itself, not a field around it.",
    ),
  },
  { title: "event" },
);

/** A type of event, and where it comes from. */
export interface EventType {
  type: string;
  /** Whom it is about: the kind of record in `data`. */
  kind: string | undefined;
  /** The shape of that record, if one is declared. */
  data: TSchema | undefined;
  /** The states whose arrival makes it; `created` for a new record. */
  arrivals: string[];
  /** Ids of the operations that make it; none for what only the control plane can bring about. */
  operations: string[];
  assumption: Assumption | undefined;
}

const DOCUMENTED = "payment.succeeded";
const DERIVED: Assumption = { why: `The document names one type of event, ${DOCUMENTED}; the others are formed like it.` };

/** In the order of the resources; the operations' own types, which hang on no resource, come last. */
export function eventsOf(operations: readonly Declared[], resources: readonly Resource[]): EventType[] {
  const schemas = titledSchemas([...resources.map(({ schema }) => schema), ...operations.map(({ reply }) => reply)]);
  const found = new Map<string, EventType>();
  const note = (type: string, kind: string, assumption: Assumption | undefined): EventType => {
    const known = found.get(type) ?? { type, kind, data: schemas.get(kind), arrivals: [], operations: [], assumption };
    found.set(type, { ...known, assumption: assumption ?? known.assumption });
    return found.get(type) as EventType;
  };
  for (const { kind, events } of resources)
    for (const [arrival, type] of Object.entries(events))
      note(type, kind, type === DOCUMENTED ? undefined : DERIVED).arrivals.push(arrival);
  for (const { id, emits } of operations)
    for (const fact of emits) {
      const type = factOf(fact);
      note(type, type.split(".")[0] ?? "", isAssumed(fact) ? fact.assumption : undefined).operations.push(id);
    }
  return [...found.values()].map((event) => (event.data ? event : { ...event, kind: undefined }));
}
