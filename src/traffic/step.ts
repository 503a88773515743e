// One traffic step: creates a record of a kind, or moves an earlier one to its next state, through the same functions
// as the API.

import type { AnyRecord, Resource } from "../contracts/resource.ts";
import { ApiError } from "../kernel/errors.ts";
import type { NamePart } from "../kernel/random.ts";
import type { JsonObject } from "../schema/schema.ts";
import { changeAdminRecord, makeRecord, type SampleDependencies } from "../store/records/admin-records.ts";
import type { Database } from "../store/sqlite/database.ts";
import { kinds, type StepContext, type TrafficKind } from "./kinds.ts";

export interface StepDependencies extends SampleDependencies {
  database: Database;
  /** Whether time takes records to their next states; traffic then leaves those states to it. */
  life: { readonly isOn: boolean };
}

/** A record that traffic will move. */
interface PendingTransition {
  id: string;
  from: string;
  next: string;
  /** Whether the record could not enter another state. */
  isInstead?: true;
}

/** The records of a run: those that traffic made, and of some kinds those that were pending when it started. */
export interface Progress {
  mix: Record<string, number>;
  /** The name of the run, from which its random values are derived. */
  name: readonly NamePart[];
  /** Records with a next state, by kind, the oldest first. */
  backlog: Map<string, PendingTransition[]>;
  /** The state of each record that time moves on. */
  awaiting: Map<string, string>;
}

/** Returns false if no record of the kind can be created or moved. Call inside a transaction. */
export function runStep(deps: StepDependencies, progress: Progress, kind: string, step: StepContext): boolean {
  const waiting = queueOf(progress, kind);
  const movesFirst = step.chance("goes on") < waiting.length / (waiting.length + 1);
  const move = () => moveRecord(deps, kind, waiting, step);
  const create = () => createRecord(deps, kind, step);
  const record = submit(deps, kind, step) ?? (movesFirst ? (move() ?? create()) : (create() ?? move()));
  if (record) plan(deps, progress, kind, record, step);
  const next = record && kinds[kind]?.goesOn?.(record) && moveRecord(deps, kind, waiting, step);
  if (next) plan(deps, progress, kind, next, step);
  return record !== undefined;
}

export function resourceOf({ resources }: Pick<SampleDependencies, "resources">, kind: string): Resource {
  const found = resources.find((resource) => resource.kind === kind);
  if (!found) throw new Error(`Traffic needs the kind of record ${kind}, which does not exist.`);
  return found;
}

/**
 * Moves the first record that is still in its state; a record that time or another client has changed meanwhile is
 * skipped.
 */
function moveRecord(
  deps: StepDependencies,
  kind: string,
  waiting: PendingTransition[],
  step: StepContext,
): AnyRecord | undefined {
  const { prepare, onEnter, otherwise } = kinds[kind] as TrafficKind;
  for (let first = waiting.shift(); first !== undefined; first = waiting.shift()) {
    const { id, from, next, isInstead = false } = first;
    const record = step.own(kind).find(id) as AnyRecord | undefined;
    if (record?.status !== from || prepare?.[next]?.(step, record) === false) continue;
    const moved = tryMove(deps, kind, id, { ...onEnter?.[next]?.(step, isInstead), status: next }, step);
    if (moved) return moved;
    const instead = otherwise?.[next];
    if (instead !== undefined) waiting.unshift({ id, from, next: instead, isInstead: true });
  }
  return undefined;
}

/**
 * Submits a record whose time has come, such as a draft of a payroll before its pay date, also if traffic did not make
 * it.
 */
function submit(deps: StepDependencies, kind: string, step: StepContext): AnyRecord | undefined {
  const { submits } = kinds[kind] as TrafficKind;
  const due = submits?.due(step);
  return due && submits && tryMove(deps, kind, due.id, { status: submits.status }, step);
}

/** Undefined if a rule forbids the move, because another client changed the record, or one that it depends on. */
function tryMove(
  deps: StepDependencies,
  kind: string,
  id: string,
  fields: JsonObject,
  step: StepContext,
): AnyRecord | undefined {
  try {
    return deps.database.transaction(() =>
      changeAdminRecord(deps.resources, () => step.caller, resourceOf(deps, kind), { id, given: fields }),
    ) as AnyRecord;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return undefined;
  }
}

function createRecord(deps: StepDependencies, kind: string, step: StepContext): AnyRecord | undefined {
  const { newRecord = () => ({}) } = kinds[kind] as TrafficKind;
  const fields = newRecord(step);
  return fields && (makeRecord(deps, () => step.caller, resourceOf(deps, kind), fields) as AnyRecord);
}

/** Draws the next state of a record. */
export function plan(
  deps: StepDependencies,
  progress: Progress,
  kind: string,
  record: AnyRecord,
  step: StepContext,
): void {
  const { transitions, goesOn } = kinds[kind] as TrafficKind;
  const from = record.status ?? "";
  const drawn = drawNextState(transitions[from], deps.random.fraction(...progress.name, record.id, from));
  const { own } = step.caller;
  const byTime = deps.life.isOn ? resourceOf(deps, kind).states[from]?.next?.({ record, own })?.status : undefined;
  if (byTime !== undefined && (drawn === undefined || drawn === byTime)) {
    if (transitions[byTime]) progress.awaiting.set(record.id, from);
  } else if (drawn !== undefined) {
    const queue = queueOf(progress, kind);
    queue.splice(goesOn?.(record) ? 0 : queue.length, 0, { id: record.id, from, next: drawn });
  }
}

function queueOf({ backlog }: Progress, kind: string): PendingTransition[] {
  const queue = backlog.get(kind) ?? [];
  backlog.set(kind, queue);
  return queue;
}

function drawNextState(shares: Readonly<Record<string, number>> = {}, chance: number): string | undefined {
  let left = chance;
  return Object.entries(shares).find(([, share]) => {
    left -= share;
    return left < 0;
  })?.[0];
}
