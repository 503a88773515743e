// The fields of a record that a fixture, a new record or a change may set.

import type { ObjectSchema } from "../../contracts/endpoint.ts";
import type { Resource } from "../../contracts/resource.ts";
import { oncePerKey } from "../../kernel/once.ts";
import { Type } from "../../schema/shapes.ts";
import { isRequired } from "../../schema/walk.ts";

/** Fields that the service derives and no caller may set. */
const OWNED = ["object", "merchantId", "livemode"];

const without = ({ properties }: ObjectSchema, names: readonly string[]): ObjectSchema =>
  Type.Object(Object.fromEntries(Object.entries(properties).filter(([name]) => !names.includes(name))));

/** The fields that a fixture may set. Fields with a default are optional. */
export const fixtureFields = oncePerKey((resource: Resource): ObjectSchema => {
  const free = Object.entries(resource.schema.properties).filter(([name]) => !OWNED.includes(name));
  return Type.Object(
    Object.fromEntries(free.map(([name, field]) => [name, mustBeGiven(resource, name) ? field : Type.Optional(field)])),
  );
});

/** The fields that the control API may set when it creates a record. */
export const creatableFields = oncePerKey((resource: Resource) => without(fixtureFields(resource), resource.derived));

/** The fields of `creatableFields`, all optional, because a sample fills in missing ones. */
export const optionalFields = oncePerKey((resource: Resource): ObjectSchema => {
  const fields = Object.entries(creatableFields(resource).properties);
  return Type.Object(Object.fromEntries(fields.map(([name, field]) => [name, Type.Optional(field)])));
});

/** Fields fixed at creation, because references from other records and the order of lists depend on them. */
const FIXED = ["id", "created"];

/** The fields of a record that the control API may change. */
export const updatableFields = oncePerKey((resource: Resource) => without(optionalFields(resource), FIXED));

/** Fields that the service generates if they are omitted. */
const GENERATED = ["id", "metadata", "created"];

/** Whether a fixture must set the field: it is required, has no default, is not nullable and is not generated. */
function mustBeGiven({ schema, defaults }: Resource, name: string): boolean {
  const field = schema.properties[name] as { type?: string | string[]; anyOf?: { type?: string }[] };
  const isNullable = [field.type].flat().includes("null") || field.anyOf?.some(({ type }) => type === "null") === true;
  return isRequired(schema, name) && !isNullable && !GENERATED.includes(name) && !Object.hasOwn(defaults, name);
}
