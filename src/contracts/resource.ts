// The declaration of a resource: its fields, its statuses, the transitions between them and the events that they emit.

import { oncePerKey } from "../kernel/once.ts";
import { assumed } from "../schema/assumed.ts";
import { id, metadata, oneOf, type Static, type TObject, type TProperties, type TUnsafe, Type, timestamp } from "../schema/shapes.ts";
import type { ObjectSchema } from "./endpoint.ts";

/** The fields that every record has. */
export interface RecordBase {
  id: string;
  object: string;
  merchantId: string;
  metadata: Record<string, unknown>;
  created: number;
  status?: string | undefined;
}

export interface Resource<R extends RecordBase = RecordBase> {
  readonly kind: string;
  readonly prefix: string;
  /** The name of the SQL view of these records. */
  readonly view: string;
  readonly schema: TUnsafe<R> & { properties: TProperties };
  /** The statuses that may follow each status; empty for resources without a status. */
  readonly transitions: Readonly<Record<string, readonly string[]>>;
  /** The event type for each transition, keyed by the new status, or by `created` for a new record. */
  readonly events: Readonly<Record<string, string>>;
  /** Unique constraints: sets of fields whose combined values must be unique among a merchant's records. */
  readonly unique: readonly (readonly string[])[];
  /** Fields that are stored but never returned. */
  readonly hidden: readonly string[];
  /** Default values of a new record. */
  readonly defaults: Partial<R>;
}

interface ResourceDeclaration<F extends TProperties, M extends Record<string, readonly string[]>> {
  kind: string;
  prefix: string;
  view: string;
  fields: F;
  moves?: M;
  events?: Partial<Record<"created" | "updated" | keyof M, string>> & Record<string, string>;
  unique?: readonly (readonly string[])[];
  hidden?: readonly string[];
  defaults?: Record<string, unknown>;
  /** False if the service's documentation lists the fields of the resource without `livemode`. */
  livemode?: false;
}

type RecordShape<F extends TProperties, M> = RecordBase &
  Static<TObject<F>> &
  (string extends keyof M ? unknown : { status: Extract<keyof M, string> });

const SHAPE_WHY = "The service's documentation names the resource but does not list its fields; these are common to comparable APIs.";

export function resource<const F extends TProperties, const M extends Record<string, readonly string[]>>(
  declared: ResourceDeclaration<F, M>,
): Resource<RecordShape<F, M>> {
  const documented = declared.livemode === false;
  const states = Object.keys(declared.moves ?? {});
  const schema = Type.Object(
    {
      id: id(declared.prefix, "Unique identifier of the object"),
      object: oneOf([declared.kind], "Type of the object"),
      merchantId: id("mer", "Merchant that owns the object"),
      ...(states.length > 0 ? { status: oneOf(states, describeMoves(declared.moves ?? {})) } : {}),
      ...declared.fields,
      metadata: metadata(),
      created: assumed(
        timestamp("Time at which the object was created"),
        "The service's documentation gives an integer without a unit; most services use seconds.",
      ),
      ...(documented ? {} : { livemode: Type.Boolean({ const: false, description: "Always false: no money moves here" }) }),
    },
    { title: declared.kind },
  );
  return {
    kind: declared.kind,
    prefix: declared.prefix,
    view: declared.view,
    schema: (documented ? schema : assumed(schema, SHAPE_WHY)) as unknown as Resource<RecordShape<F, M>>["schema"],
    transitions: declared.moves ?? {},
    events: declared.events ?? {},
    unique: declared.unique ?? [],
    hidden: declared.hidden ?? [],
    defaults: (declared.defaults ?? {}) as Partial<RecordShape<F, M>>,
  };
}

/** Fields that the service derives and no caller may set. */
const OWNED = ["object", "merchantId", "livemode"];

/** The fields that the admin API may set when it creates a record; those with a default are optional. */
export const creatableFields = oncePerKey((resource: Resource): ObjectSchema => {
  const free = Object.entries(resource.schema.properties).filter(([name]) => !OWNED.includes(name));
  return Type.Object(Object.fromEntries(free.map(([name, field]) => [name, isRequired(resource, name) ? field : Type.Optional(field)])));
});

/** Fields fixed at creation: references from other records and the order of lists depend on them. */
const FIXED = ["id", "created"];

/** The fields of a record that the admin API may change. */
export const updatableFields = oncePerKey((resource: Resource): ObjectSchema => {
  const free = Object.entries(creatableFields(resource).properties).filter(([name]) => !FIXED.includes(name));
  return Type.Object(Object.fromEntries(free.map(([name, field]) => [name, Type.Optional(field)])));
});

/** Fields that the service generates if they are omitted. */
const GENERATED = ["id", "metadata", "created"];

/** Whether a field is required: it has no default, is not nullable and is not generated. */
function isRequired({ schema, defaults }: Resource, name: string): boolean {
  const field = schema.properties[name] as { type?: string | string[]; anyOf?: { type?: string }[] };
  const isNullable = [field.type].flat().includes("null") || field.anyOf?.some(({ type }) => type === "null") === true;
  return !isNullable && !GENERATED.includes(name) && !Object.hasOwn(defaults, name);
}

/** The schema of a record with additional fields that only one response contains. */
export function withFields<R extends RecordBase, const F extends TProperties>(
  resource: Resource<R>,
  fields: F,
): TUnsafe<R & Static<TObject<F>>> {
  return assumed(Type.Unsafe<R & Static<TObject<F>>>(Type.Object({ ...resource.schema.properties, ...fields })), SHAPE_WHY);
}

/** The statuses from which a record may move to `state`. */
export function statesBefore(moves: Resource["transitions"], state: string): string[] {
  return Object.keys(moves).filter((from) => moves[from]?.includes(state));
}

function describeMoves(moves: Record<string, readonly string[]>): string {
  const lines = Object.entries(moves).map(([from, to]) =>
    to.length > 0 ? `\`${from}\` → ${to.map((state) => `\`${state}\``).join(", ")}` : `\`${from}\` is final`,
  );
  return lines.join("; ");
}
