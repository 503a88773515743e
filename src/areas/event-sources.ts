// How to cause an event of each type: create a record in a state, change a record, or call an operation of the API.

import type { RecordBase, Resource, UpdateTrigger } from "../contracts/resource.ts";
import { once } from "../kernel/once.ts";
import { factOf } from "../schema/assumed.ts";
import type { Operation } from "../store/operation-context.ts";
import { statesBefore } from "../store/records/transitions.ts";
import { catalogue, eventTypes, resources } from "./index.ts";

export interface EventSource {
  type: string;
  /** The kind of the event's record; undefined if the operation creates the record. */
  resource: Resource | undefined;
  /** The status in which to create the record (default: the first). */
  status?: string | undefined;
  /** The status to move the created record to. */
  back?: string;
  /** The change to make to the created record. */
  update?: UpdateTrigger<RecordBase>;
  /** The operation to call, with the input in its `trigger`. */
  call?: Operation;
  /** The operations of the API that emit or may emit the event. */
  operations: readonly Operation[];
}

/** The source of each type of event, in the order of the resources. */
export const eventSources = once(
  (): ReadonlyMap<string, EventSource> =>
    new Map(
      [...eventTypes].map((type) => [
        type,
        { type, operations: catalogue.filter(emitsOrMay(type)), ...sourceOf(type) },
      ]),
    ),
);

function emitsOrMay(type: string): (operation: Operation) => boolean {
  return (operation) => emits(operation, type) || operation.mayEmit[type] !== undefined;
}

function emits(operation: Operation, type: string): boolean {
  return operation.emits.map(factOf).includes(type);
}

function sourceOf(type: string): Omit<EventSource, "type" | "operations"> {
  const call = catalogue.find((operation) => operation.trigger && emits(operation, type));
  if (call) {
    const { kind, status } = call.trigger?.record ?? {};
    return { resource: resources.find((resource) => resource.kind === kind), status, call };
  }
  for (const resource of resources) {
    const [name] = Object.entries(resource.events).find(([, event]) => event === type) ?? [];
    if (name !== undefined) return { resource, ...changeOf(resource, name, type) };
  }
  throw new Error(`${type} has no source: the operation that emits it needs a trigger`);
}

/** How to cause an event of a resource. `name` is the event's key in `events`: `created`, a status, or an update. */
function changeOf(resource: Resource, name: string, type: string): Pick<EventSource, "status" | "back" | "update"> {
  const first = resource.defaults.status;
  if (name === "created") return { status: first };
  if (name === first) return { status: statesBefore(resource.transitions, first)[0], back: first };
  if (Object.hasOwn(resource.states, name)) return { status: name };
  const update = resource.updates[type]?.trigger ?? metadataChange(first);
  return { status: update.status, update };
}

function metadataChange(status: string | undefined): UpdateTrigger<RecordBase> {
  return {
    status,
    change: ({ metadata }) => ({ metadata: { ...metadata, note: "changed" } }),
    flags: `--metadata '{"note": "changed"}'`,
  };
}
