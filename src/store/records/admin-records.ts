// Creates and changes records through the control API: validates the fields, then writes the record and emits the event that the service would send.

import type { ObjectSchema } from "../../contracts/endpoint.ts";
import { creatableFields, optionalFields, updatableFields } from "../../contracts/record-fields.ts";
import type { RecordBase, Resource } from "../../contracts/resource.ts";
import { didYouMean } from "../../kernel/did-you-mean.ts";
import { fail } from "../../kernel/errors.ts";
import type { JsonObject } from "../../schema/schema.ts";
import { fieldErrors } from "../../schema/validator.ts";
import type { Collection } from "./collection.ts";

/** Looks up the merchant's records; called after the fields were validated, so that a wrong field is reported before an unknown merchant. */
type GetCollection = () => Collection<RecordBase>;

/** To be called inside a transaction. */
export function createAdminRecord(resource: Resource, getCollection: GetCollection, fields: JsonObject): RecordBase {
  checkFields(resource, fields, creatableFields(resource));
  const records = getCollection();
  if (typeof fields.id === "string" && records.find(fields.id))
    fail("already_exists", `A ${resource.kind} with the id ${fields.id} exists already.`);
  return records.create(fields);
}

/** A new `status` must be an allowed transition of the kind; all other fields are set. To be called inside a transaction. */
export function changeAdminRecord(resource: Resource, getCollection: GetCollection, id: string, given: JsonObject): RecordBase {
  checkFields(resource, given, updatableFields(resource));
  const records = getCollection();
  const record = records.require(id);
  const { status, ...fields } = given;
  return typeof status === "string" && status !== record.status ? records.move(record, status, fields) : records.update(record, fields);
}

/** Checks the fields of a new record before the others are added. */
export const checkGivenFields = (resource: Resource, given: JsonObject): void => checkFields(resource, given, optionalFields(resource));

function checkFields(resource: Resource, fields: JsonObject, schema: ObjectSchema): void {
  const known = Object.keys(schema.properties);
  for (const name of Object.keys(fields))
    if (!known.includes(name))
      fail("validation_failed", `${name} is no field of a ${resource.kind} that can be set.${didYouMean(name, known)}`);
  const [first, ...others] = fieldErrors(schema, fields);
  if (first) fail("validation_failed", first.message, { errors: [first, ...others] });
}
