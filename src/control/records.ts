// Records of every kind: list, get, make and move them. The events that the service would emit are emitted.

import { endpointFactory } from "../areas/declare/operation.ts";
import type { RecordBase, Resource } from "../contracts/resource.ts";
import type { Clock } from "../kernel/clock.ts";
import { didYouMean, nearestOrAll } from "../kernel/did-you-mean.ts";
import { fail } from "../kernel/errors.ts";
import type { Random } from "../kernel/random.ts";
import { assumedPageQuery, listOf, metadata, Type, text, timestamp } from "../schema/shapes.ts";
import type { OperationContext } from "../store/operation-context.ts";
import { makeAdminRecord, moveAdminRecord } from "../store/records/admin-records.ts";
import type { Collection } from "../store/records/collection.ts";
import type { Stores } from "../store/stores.ts";

export interface RecordParts
  extends Pick<Stores, "database" | "createOperationContext" | "collections" | "tenants" | "counters"> {
  clock: Clock;
  random: Random;
  resources: readonly Resource[];
}

const endpoint = endpointFactory<RecordParts>("Records");

/** The fields that all kinds share. A reply also has the fields of its kind, as the service defines them. */
export const AnyRecord = Type.Object(
  {
    id: Type.String(),
    object: Type.String({ description: "The kind of record" }),
    merchantId: Type.String({ description: "The owner" }),
    status: Type.Optional(Type.String({ description: "Only kinds with states have one" })),
    metadata: metadata(),
    created: timestamp("Time at which it was created"),
  },
  { title: "any_record", description: "A record of any kind, with the fields of its kind", additionalProperties: true },
);

/** The field of a reply with the warnings about unlikely values. */
export const warningList = Type.Array(Type.String(), {
  description: "Warnings about unlikely values, such as a stay in a full room; usually empty",
});

const WrittenRecord = Type.Object(
  { ...AnyRecord.properties, warnings: warningList },
  { title: "written_record", description: "A record of any kind, and warnings", additionalProperties: true },
);

const owner = Type.Optional(text("The owner, such as mer_lodge (default: the first merchant)"));
const ownerOfId = Type.Optional(text("The owner; required only if several merchants have a record with this id"));

const listRecords = endpoint({
  id: "records.list",
  method: "GET",
  path: "/records/{kind}",
  exampleParams: { kind: "payment" },
  summary: "List a merchant's records of a kind, newest first",
  query: Type.Object({
    merchant: owner,
    status: Type.Optional(text("Only records in this status")),
    ...assumedPageQuery.properties,
  }),
  reply: listOf(AnyRecord),
  errors: ["resource_not_found", "invalid_limit", "invalid_cursor"],
  handle({ params, query: { merchant, ...query }, ...context }) {
    const resource = kindNamed(context, params.kind);
    if (query.status !== undefined) checkStatus(resource, query.status);
    const page = recordsOf(context, context.tenants.requireOrFirst(merchant), resource).page(query);
    return { ...page, data: page.data.map((record) => ({ ...record })) };
  },
});

const showRecord = endpoint({
  id: "records.get",
  method: "GET",
  path: "/records/{kind}/{id}",
  exampleParams: { kind: "customer", id: "cus_ines" },
  summary: "Get a record",
  query: Type.Object({ merchant: ownerOfId }),
  reply: AnyRecord,
  errors: ["resource_not_found"],
  handle({ params, query, ...context }) {
    const resource = kindNamed(context, params.kind);
    const merchant =
      query.merchant === undefined
        ? onlyOwner(context, resource, params.id)
        : context.tenants.requireOrFirst(query.merchant);
    return { ...recordsOf(context, merchant, resource).require(params.id) };
  },
});

const makeRecord = endpoint({
  id: "records.make",
  method: "POST",
  path: "/records/{kind}",
  exampleParams: { kind: "payment" },
  summary: "Create a record",
  description:
    "The body has `merchant` and the fields of the kind. Missing fields are generated, such as a customer of the " +
    "merchant, its currency, a room, or items; the same seed and calls give the same values. A record in a later " +
    "`status` goes through the states before it, with the event of each. Malformed, unknown or impossible values " +
    "are rejected; unlikely ones are accepted with `warnings`.",
  body: Type.Object({ merchant: owner }, { additionalProperties: true }),
  example: { merchant: "mer_lodge", amount: 12_500, currency: "EUR", status: "succeeded" },
  reply: WrittenRecord,
  status: 201,
  errors: ["resource_not_found", "already_exists"],
  handle: ({ params, body, extra, ...context }) =>
    commit(context, () => {
      const resource = kindNamed(context, params.kind, true);
      const warnings = new Set<string>();
      const caller = () => operationContextFor(context, context.tenants.requireOrFirst(body.merchant), warnings);
      return { ...makeAdminRecord(context, caller, resource, extra), warnings: [...warnings] };
    }),
});

const moveRecord = endpoint({
  id: "records.move",
  method: "PATCH",
  path: "/records/{kind}/{id}",
  exampleParams: { kind: "payment", id: "pay_pending" },
  summary: "Change a record, or its status",
  description: "A new `status` must be a valid transition, and emits its event; other fields are set as given.",
  body: Type.Object({ merchant: ownerOfId }, { additionalProperties: true }),
  example: { merchant: "mer_lodge", status: "succeeded" },
  reply: WrittenRecord,
  errors: ["resource_not_found", "invalid_state", "already_exists"],
  handle: ({ params, body, extra, ...context }) =>
    commit(context, () => {
      const resource = kindNamed(context, params.kind);
      const warnings = new Set<string>();
      const caller = () =>
        operationContextFor(context, body.merchant ?? onlyOwner(context, resource, params.id), warnings);
      const record = moveAdminRecord(context.resources, caller, resource, { id: params.id, given: extra });
      return { ...record, warnings: [...warnings] };
    }),
});

/** Commits the work. Then clears the cached merchants, and wakes the clock, because new work may be due. */
export async function commit<T>({ database, clock, tenants }: RecordParts, work: () => T): Promise<T> {
  const value = await database.groupCommit(work);
  tenants.clearCache();
  clock.wake();
  return value;
}

/** Finds a kind by name. Excludes endpoints and, for new records, merchants, which have their own operations. */
function kindNamed({ resources }: RecordParts, kind: string, isNew = false): Resource {
  const isExcluded = (resource: Resource) => resource.hidden.length > 0 || (isNew && resource.kind === "merchant");
  const known = resources.filter((resource) => !isExcluded(resource));
  const found = known.find((resource) => resource.kind === kind);
  const kinds = known.map((resource) => resource.kind);
  return found ?? fail("resource_not_found", `There is no kind of record ${kind}.${nearestOrAll(kind, kinds)}`);
}

function checkStatus({ kind, transitions }: Resource, status: string): void {
  const known = Object.keys(transitions);
  if (known.includes(status)) return;
  if (known.length === 0) fail("validation_failed", `A ${kind} has no status.`);
  const choice = didYouMean(status, known) || ` Its statuses are ${known.join(", ")}.`;
  fail("validation_failed", `A ${kind} has no status ${status}.${choice}`);
}

function recordsOf(context: RecordParts, merchant: string, resource: Resource): Collection<RecordBase> {
  return operationContextFor(context, merchant).own(resource);
}

/**
 * The context of work for a merchant. `warnings` collects the warnings about unlikely values in the records that it
 * writes.
 */
export const operationContextFor = (
  { createOperationContext, clock }: RecordParts,
  merchant: string,
  warnings = new Set<string>(),
): OperationContext =>
  createOperationContext(merchant, clock.seconds(), undefined, { warned: (text) => void warnings.add(text) });

/** The input for running an operation of the service in process. */
export const operationInput = (
  caller: OperationContext,
  body: Record<string, unknown>,
  params: Record<string, string> = {},
) => ({
  ...caller,
  ...{ params, query: {}, body, extra: {} },
});

/** The most merchants in an error message. */
const MOST_NAMED = 10;

/** The merchant that owns the record. Fails if several do, because created merchants share the ids of their fixture. */
function onlyOwner(context: RecordParts, resource: Resource, id: string): string {
  const owners = context.tenants.ownersOf(resource.kind, id, MOST_NAMED + 1);
  const others = owners.length > MOST_NAMED ? " and others" : "";
  if (owners.length > 1)
    fail(
      "validation_failed",
      `${id} exists for ${owners.slice(0, MOST_NAMED).join(", ")}${others}: name one of them in merchant.`,
    );
  return owners[0] ?? fail("resource_not_found", `No merchant has a ${resource.kind} ${id}.`);
}

export const operations = [listRecords, showRecord, makeRecord, moveRecord];
