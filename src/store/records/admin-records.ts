// Records given from outside the service: held against their kind, then made, changed or moved, with the event the service would send.

import type { ObjectSchema } from "../../contracts/endpoint.ts";
import { creatableFields, type RecordBase, type Resource, updatableFields } from "../../contracts/resource.ts";
import { didYouMean } from "../../kernel/did-you-mean.ts";
import { fail } from "../../kernel/errors.ts";
import { fieldErrors } from "../../schema/validator.ts";
import type { Collection } from "./collection.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Whose records are meant may depend on what else was asked: that is found out once the fields are right. */
type Owned = () => Collection<RecordBase>;

/** Only inside a transaction. */
export function createAdminRecord(resource: Resource, owned: Owned, fields: Fields): RecordBase {
  checkFields(resource, fields, creatableFields(resource));
  const records = owned();
  if (typeof fields.id === "string" && records.find(fields.id))
    fail("already_exists", `A ${resource.kind} with the id ${fields.id} exists already.`);
  return records.create(fields);
}

/** A `status` that differs is moved to, as the kind's table of moves allows it; all else is set as it is. Only inside a transaction. */
export function changeAdminRecord(resource: Resource, owned: Owned, id: string, given: Fields): RecordBase {
  checkFields(resource, given, updatableFields(resource));
  const records = owned();
  const record = records.require(id);
  const { status, ...fields } = given;
  return typeof status === "string" && status !== record.status
    ? records.move(record, status, fields)
    : records.update(record, fields, resource.events.updated);
}

function checkFields(resource: Resource, fields: Fields, schema: ObjectSchema): void {
  const known = Object.keys(schema.properties);
  for (const name of Object.keys(fields))
    if (!known.includes(name))
      fail("validation_failed", `${name} is no field of a ${resource.kind} that can be set.${didYouMean(name, known)}`);
  const [first, ...others] = fieldErrors(schema, fields);
  if (first) fail("validation_failed", first.message, { errors: [first, ...others] });
}
