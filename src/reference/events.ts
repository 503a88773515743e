// The events of the service: every type that a resource or an operation emits.

import type { DeclaredOperation } from "../contracts/endpoint.ts";
import type { Resource } from "../contracts/resource.ts";
import { type Assumption, factOf, isAssumed } from "../schema/assumed.ts";
import type { TSchema } from "../schema/shapes.ts";
import { titledSchemas } from "../schema/walk.ts";

export interface EventType {
  type: string;
  /** The type of object in `data`. */
  kind: string | undefined;
  /** The schema of the object in `data`, if one is declared. */
  data: TSchema | undefined;
  /** The changes that emit the event: statuses that a record enters, `created` for a new record, or other names. */
  arrivals: string[];
  /** The ids of the operations that always emit the event. Operations that may emit it are not listed. */
  operations: string[];
  assumption: Assumption | undefined;
}

const DOCUMENTED = "payment.succeeded";
const DERIVED: Assumption = {
  why: `The service's documentation names one event type, ${DOCUMENTED}; the others follow the same pattern.`,
};

/** Lists the types in the order of the resources; types that only operations emit come last. */
export function eventsOf(operations: readonly DeclaredOperation[], resources: readonly Resource[]): EventType[] {
  const schemas = titledSchemas([...resources.map(({ schema }) => schema), ...operations.map(({ reply }) => reply)]);
  const found = new Map<string, EventType>();
  const register = (type: string, kind: string, assumption: Assumption | undefined): EventType => {
    const known = found.get(type) ?? { type, kind, data: schemas.get(kind), arrivals: [], operations: [], assumption };
    found.set(type, { ...known, assumption: assumption ?? known.assumption });
    return found.get(type) as EventType;
  };
  for (const { kind, events } of resources)
    for (const [arrival, type] of Object.entries(events))
      register(type, kind, type === DOCUMENTED ? undefined : DERIVED).arrivals.push(arrival);
  for (const { id, emits } of operations)
    for (const fact of emits) {
      const type = factOf(fact);
      register(type, type.split(".")[0] ?? "", isAssumed(fact) ? fact.assumption : undefined).operations.push(id);
    }
  return [...found.values()].map((event) => (event.data ? event : { ...event, kind: undefined }));
}
