// One traffic step: creates a record of a kind, or moves an earlier one to its next state, through the same functions as the API.

import type { RecordBase, Resource } from "../contracts/resource.ts";
import type { Operation, OperationContext } from "../store/operation-context.ts";
import { changeAdminRecord, createAdminRecord } from "../store/records/admin-records.ts";
import type { Scene, Some } from "./activity-context.ts";
import type { Kind } from "./kind.ts";
import { office } from "./office-activity.ts";
import { sales } from "./sales-activity.ts";

export const kinds: Readonly<Record<string, Kind>> = { ...sales, ...office };

export interface Declared {
  resources: readonly Resource[];
  operations: readonly Operation[];
}

/** A record that has a next state to move to. */
export interface Underway {
  id: string;
  from: string;
  next: string;
}

/** Records to move on, by kind, the oldest first. Only records that traffic created: those of a test stay untouched. */
export type Backlog = Map<string, Underway[]>;

/** Runs inside a transaction. */
export function happen(declared: Declared, backlog: Backlog, kind: string, scene: Scene, caller: OperationContext): void {
  const resource = resourceOf(declared, kind);
  const about = kinds[kind] as Kind;
  const waiting = backlog.get(kind) ?? [];
  const goesOn = scene.chance("goes on") < waiting.length / (waiting.length + 1);
  const first = goesOn ? waiting.shift() : undefined;
  const record = (first && goOn(resource, about, first, scene, caller)) ?? begin(declared, resource, about, scene, caller);
  about.note?.(scene, record);
  const from = record.status ?? "";
  const next = nextOf(about, from, scene);
  if (next !== undefined) waiting.push({ id: record.id, from, next });
  backlog.set(kind, waiting);
}

export const resourceOf = ({ resources }: Pick<Declared, "resources">, kind: string): Resource =>
  resources.find((resource) => resource.kind === kind) ?? unknown(`kind of record ${kind}`);

/** Undefined when another client has moved the record meanwhile. */
function goOn(resource: Resource, about: Kind, { id, from, next }: Underway, scene: Scene, caller: OperationContext): Some | undefined {
  const record = caller.own(resource).find(id) as Some | undefined;
  if (record?.status !== from) return undefined;
  const changes = about.arrive?.[next]?.(scene, record);
  return changeAdminRecord(resource, () => caller.own(resource), id, { ...changes, status: next }) as Some;
}

function begin({ operations }: Declared, resource: Resource, about: Kind, scene: Scene, caller: OperationContext): Some {
  const fields = about.begin(scene);
  if (about.operation === undefined) return createAdminRecord(resource, () => caller.own(resource), fields) as Some;
  const operation = operations.find(({ id }) => id === about.operation) ?? unknown(`operation ${about.operation}`);
  return operation.handle({ ...caller, params: {}, query: {}, body: fields, extra: {} }) as RecordBase as Some;
}

function nextOf({ life }: Kind, state: string, { chance }: Scene): string | undefined {
  let left = chance("next");
  return Object.entries(life[state] ?? {}).find(([, share]) => {
    left -= share;
    return left < 0;
  })?.[0];
}

function unknown(what: string): never {
  throw new Error(`Traffic needs the ${what}, which does not exist.`);
}
