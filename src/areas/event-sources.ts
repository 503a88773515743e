// How to cause each type of event, from the declarations: a record in a state, a change of it, or a call of the API.

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
  /** The status to which the record then returns. */
  back?: string;
  /** The change that then follows. */
  update?: UpdateTrigger<RecordBase>;
  /** The operation that is then called, as its declaration says. */
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

/** The change behind a name of `events`: the record was created, reached a state, or was updated. */
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
