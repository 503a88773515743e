// One traffic step: creates a record of a kind, or moves an earlier one to its next state, through the same functions as the API.

import type { RecordBase, Resource } from "../contracts/resource.ts";
import type { Operation, OperationContext } from "../store/operation-context.ts";
import { changeAdminRecord, createAdminRecord } from "../store/records/admin-records.ts";
import type { TrafficKind } from "./kind.ts";
import { office } from "./office-kinds.ts";
import { sales } from "./sales-kinds.ts";
import type { StepContext, TrafficRecord } from "./step-context.ts";

export const kinds: Readonly<Record<string, TrafficKind>> = { ...sales, ...office };

export interface ApiDefinitions {
  resources: readonly Resource[];
  operations: readonly Operation[];
}

/** A record that has a next state to move to. */
export interface PendingTransition {
  id: string;
  from: string;
  next: string;
}

/** Records with a next state, by kind, the oldest first. Holds only records that traffic created: a test's own records stay unchanged. */
export type Backlog = Map<string, PendingTransition[]>;

/** Runs inside a transaction. */
export function runStep(definitions: ApiDefinitions, backlog: Backlog, kind: string, step: StepContext, caller: OperationContext): void {
  const resource = resourceOf(definitions, kind);
  const definition = kinds[kind] as TrafficKind;
  const waiting = backlog.get(kind) ?? [];
  const movesRecord = step.chance("goes on") < waiting.length / (waiting.length + 1);
  const first = movesRecord ? waiting.shift() : undefined;
  const record =
    (first && moveRecord(definitions, resource, definition, first, step, caller)) ??
    createRecord(definitions, resource, definition, step, caller);
  definition.afterStep?.(step, record);
  const from = record.status ?? "";
  const next = drawNextState(definition, from, step);
  if (next !== undefined) waiting.push({ id: record.id, from, next });
  backlog.set(kind, waiting);
}

export const resourceOf = ({ resources }: Pick<ApiDefinitions, "resources">, kind: string): Resource =>
  resources.find((resource) => resource.kind === kind) ?? unknown(`kind of record ${kind}`);

/** Returns undefined if another client has changed the record's state meanwhile. */
function moveRecord(
  definitions: ApiDefinitions,
  resource: Resource,
  definition: TrafficKind,
  { id, from, next }: PendingTransition,
  step: StepContext,
  caller: OperationContext,
): TrafficRecord | undefined {
  const record = caller.own(resource).find(id) as TrafficRecord | undefined;
  if (record?.status !== from) return undefined;
  definition.prepare?.[next]?.(record, (other) => caller.own(resourceOf(definitions, other)));
  const changes = definition.onEnter?.[next]?.(step, record);
  return changeAdminRecord(resource, () => caller.own(resource), id, { ...changes, status: next }) as TrafficRecord;
}

function createRecord(
  { operations }: ApiDefinitions,
  resource: Resource,
  definition: TrafficKind,
  step: StepContext,
  caller: OperationContext,
): TrafficRecord {
  const fields = definition.newRecord(step);
  if (definition.operation === undefined) return createAdminRecord(resource, () => caller.own(resource), fields) as TrafficRecord;
  const operation = operations.find(({ id }) => id === definition.operation) ?? unknown(`operation ${definition.operation}`);
  return operation.handle({ ...caller, params: {}, query: {}, body: fields, extra: {} }) as RecordBase as TrafficRecord;
}

function drawNextState({ transitions }: TrafficKind, state: string, { chance }: StepContext): string | undefined {
  let left = chance("next");
  return Object.entries(transitions[state] ?? {}).find(([, share]) => {
    left -= share;
    return left < 0;
  })?.[0];
}

function unknown(what: string): never {
  throw new Error(`Traffic needs the ${what}, which does not exist.`);
}
