// Creates and changes records through the control API: validates the fields, fills in missing ones from a sample of the
// kind, writes the record, and emits the event that the service would send.

import type { ObjectSchema } from "../../contracts/endpoint.ts";
import type { AnyRecord, RecordBase, Resource, SampleContext } from "../../contracts/resource.ts";
import { dayAt } from "../../kernel/calendar.ts";
import { didYouMean, nearestOrAll } from "../../kernel/did-you-mean.ts";
import { errorSummary, fail } from "../../kernel/errors.ts";
import type { JsonObject } from "../../kernel/json-object.ts";
import { drawsOf, type Random } from "../../kernel/random.ts";
import { refuseField } from "../../schema/field-rules.ts";
import { isTimestamp } from "../../schema/shapes.ts";
import { fieldErrors } from "../../schema/validator.ts";
import type { OperationContext } from "../operation-context.ts";
import type { Counters } from "./id-counters.ts";
import { creatableFields, optionalFields, updatableFields } from "./record-fields.ts";
import { withEarlierTimes } from "./transitions.ts";

export interface SampleDependencies {
  resources: readonly Resource[];
  random: Random;
  counters: Counters;
}

const DAY = 86_400_000;
/** How many of the newest records a sample chooses from. */
const PAGE = 50;

/**
 * Creates a plausible record. The values of missing fields depend only on the seed, the merchant and the number of its
 * samples. `getCaller` is called after the fields were validated. Call inside a transaction.
 */
export function makeAdminRecord(
  deps: SampleDependencies,
  getCaller: () => OperationContext,
  resource: Resource,
  given: JsonObject,
): RecordBase {
  checkFields(resource, given, optionalFields(resource));
  const caller = getCaller();
  checkListed(resource, given, profileOf(deps.resources, caller));
  const fields = withEarlierTimes(resource, { ...sampleOf(deps, caller, resource, given), ...given }, caller.now);
  checkFields(resource, fields, creatableFields(resource));
  const records = caller.own(resource);
  if (typeof fields.id === "string" && records.find(fields.id))
    fail("already_exists", `A ${resource.kind} with the id ${fields.id} exists already.`);
  return records.create(fields);
}

/**
 * Changes a record. A new `status` must be an allowed transition; all other fields are set as given. `getCaller` is
 * called after the fields were validated, so that a wrong field is reported before an unknown merchant. Call inside a
 * transaction.
 */
export function moveAdminRecord(
  resources: readonly Resource[],
  getCaller: () => Pick<OperationContext, "own" | "merchant">,
  resource: Resource,
  { id, given }: { id: string; given: JsonObject },
): RecordBase {
  checkFields(resource, given, updatableFields(resource));
  const caller = getCaller();
  const records = caller.own(resource);
  const record = records.require(id);
  checkListed(resource, given, profileOf(resources, caller));
  const { status, ...fields } = given;
  return typeof status === "string" && status !== record.status
    ? records.move(record, status, fields)
    : records.update(record, fields);
}

function checkFields(resource: Resource, fields: JsonObject, schema: ObjectSchema): void {
  const known = Object.keys(schema.properties);
  for (const name of Object.keys(fields))
    if (!known.includes(name))
      fail("validation_failed", `${name} cannot be set on a ${resource.kind}.${didYouMean(name, known)}`);
  const errors = fieldErrors(schema, fields);
  if (errors.length > 0) fail("validation_failed", errorSummary(errors), { errors });
}

const kindNamed = (resources: readonly Resource[], kind: string) =>
  resources.find((one) => one.kind === kind) as Resource;

const profileOf = (resources: readonly Resource[], { own, merchant }: Pick<OperationContext, "own" | "merchant">) =>
  own(kindNamed(resources, "merchant")).require(merchant);

/** Rejects a value that the merchant's profile does not list, such as a room type that the merchant does not have. */
function checkListed({ listed }: Resource, given: JsonObject, merchant: RecordBase): void {
  for (const [field, valuesOf] of Object.entries(listed)) {
    const value = given[field];
    const known = typeof value === "string" ? valuesOf(merchant as AnyRecord) : [];
    if (known.length === 0 || known.includes(value as string)) continue;
    const message = `${field} ${JSON.stringify(value)} is not in the profile of ${merchant.id}.`;
    refuseField(field, "unknown_reference", message + nearestOrAll(value as string, known));
  }
}

/** The earliest of the given times. The sample fills in the other fields as of this time. */
function earliestOf({ schema }: Resource, given: JsonObject, now: number): number {
  const times = Object.entries(given).filter(
    ([name, value]) => typeof value === "number" && isTimestamp(schema.properties[name] ?? {}),
  );
  return Math.min(now, ...times.map(([, time]) => time as number));
}

function sampleOf(
  deps: SampleDependencies,
  caller: OperationContext,
  resource: Resource,
  given: JsonObject,
): JsonObject {
  if (!resource.sample) return {};
  const number = deps.counters.next(caller.merchant, "sample");
  const resourceOf = (kind: string) => kindNamed(deps.resources, kind);
  const newest = (kind: string) => caller.own(resourceOf(kind)).newestOf(PAGE) as unknown as AnyRecord[];
  const merchant = caller.own(resourceOf("merchant")).require(caller.merchant) as unknown as AnyRecord & {
    country: string | null;
  };
  const now = earliestOf(resource, given, caller.now);
  const context: SampleContext = {
    ...drawsOf(deps.random, "sample", caller.merchant, resource.kind, number),
    given,
    status: (given.status ?? resource.defaults.status) as string | undefined,
    merchant,
    own: caller.own,
    now,
    number,
    day: (offset) => dayAt(merchant.country, now * 1_000 + offset * DAY),
    newest,
    outstanding: (kind) => caller.own(resourceOf(kind)).outstanding() as unknown as AnyRecord[],
    someOf: (kind, meets = () => true) =>
      newest(kind).find(meets) ?? (makeAdminRecord(deps, () => caller, resourceOf(kind), {}) as AnyRecord),
    mint: caller.mint,
  };
  return resource.sample(context);
}
