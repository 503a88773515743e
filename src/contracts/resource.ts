// A kind of record, as data: its fields, the states it can be in, the moves between them and the events these make.

import { oncePerKey } from "../kernel/once.ts";
import { assumed } from "../schema/assumed.ts";
import { id, metadata, oneOf, type Static, type TObject, type TProperties, type TUnsafe, Type, timestamp } from "../schema/shapes.ts";
import type { ObjectSchema } from "./endpoint.ts";

/** The base of every record; `livemode` is false for good in a sandbox. */
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
  /** The name of the SQL view that shows these records. */
  readonly view: string;
  readonly schema: TUnsafe<R> & { properties: TProperties };
  /** From each state, the states that may follow; empty for kinds without states. */
  readonly transitions: Readonly<Record<string, readonly string[]>>;
  /** The event that each arrival makes: `created`, or the name of the state that was reached. */
  readonly events: Readonly<Record<string, string>>;
  /** Sets of fields whose values, together, no two of one merchant's records of this kind may share. */
  readonly unique: readonly (readonly string[])[];
  /** Fields that are stored and never shown. */
  readonly hidden: readonly string[];
  /** What a new record has where nobody said otherwise. */
  readonly defaults: Partial<R>;
}

export type RecordOf<T> = T extends Resource<infer R> ? R : never;

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
  /** False where the document lists the fields, and `livemode` is not among them. */
  livemode?: false;
}

type RecordShape<F extends TProperties, M> = RecordBase &
  Static<TObject<F>> &
  (string extends keyof M ? unknown : { status: Extract<keyof M, string> });

const SHAPE_WHY = "The document names the resource and not its fields; these are what comparable services have in common.";

export function resource<const F extends TProperties, const M extends Record<string, readonly string[]>>(
  declared: ResourceDeclaration<F, M>,
): Resource<RecordShape<F, M>> {
  const documented = declared.livemode === false;
  const states = Object.keys(declared.moves ?? {});
  const schema = Type.Object(
    {
      id: id(declared.prefix, "Identifies the record"),
      object: oneOf([declared.kind], "The kind of the record"),
      merchantId: id("mer", "The merchant that owns it"),
      ...(states.length > 0 ? { status: oneOf(states, describeMoves(declared.moves ?? {})) } : {}),
      ...declared.fields,
      metadata: metadata(),
      created: assumed(timestamp("When it was created"), "The document gives an integer and no unit; seconds are what most services send."),
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

/** What follows from the kind, the owner or the place, and is nobody's to set. */
const OWNED = ["object", "merchantId", "livemode"];

/** The fields that a record may be given from outside the service; those that have a value without being given may be left out. */
export const creatableFields = oncePerKey((resource: Resource): ObjectSchema => {
  const free = Object.entries(resource.schema.properties).filter(([name]) => !OWNED.includes(name));
  return Type.Object(Object.fromEntries(free.map(([name, field]) => [name, isNeeded(resource, name) ? field : Type.Optional(field)])));
});

/** What a record has from its beginning: other records and the order of lists rely on it. */
const FIXED = ["id", "created"];

/** The fields of a record that may be changed from outside the service. */
export const updatableFields = oncePerKey((resource: Resource): ObjectSchema => {
  const free = Object.entries(creatableFields(resource).properties).filter(([name]) => !FIXED.includes(name));
  return Type.Object(Object.fromEntries(free.map(([name, field]) => [name, Type.Optional(field)])));
});

/** Made by the service for each record that comes without. */
const MADE = ["id", "metadata", "created"];

/** Whether nothing holds where a field is left out: no default, and not null either. */
function isNeeded({ schema, defaults }: Resource, name: string): boolean {
  const field = schema.properties[name] as { type?: string | string[]; anyOf?: { type?: string }[] };
  const isNullable = [field.type].flat().includes("null") || field.anyOf?.some(({ type }) => type === "null") === true;
  return !isNullable && !MADE.includes(name) && !Object.hasOwn(defaults, name);
}

/** The schema of a record with fields beside it that only one answer shows. */
export function withFields<R extends RecordBase, const F extends TProperties>(
  resource: Resource<R>,
  fields: F,
): TUnsafe<R & Static<TObject<F>>> {
  return assumed(Type.Unsafe<R & Static<TObject<F>>>(Type.Object({ ...resource.schema.properties, ...fields })), SHAPE_WHY);
}

/** The states from which a record may arrive at `state`. */
export function statesBefore(moves: Resource["transitions"], state: string): string[] {
  return Object.keys(moves).filter((from) => moves[from]?.includes(state));
}

function describeMoves(moves: Record<string, readonly string[]>): string {
  const lines = Object.entries(moves).map(([from, to]) =>
    to.length > 0 ? `\`${from}\` → ${to.map((state) => `\`${state}\``).join(", ")}` : `\`${from}\` is final`,
  );
  return lines.join("; ");
}
