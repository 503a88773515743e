// Declares resources: `resource()` derives the schema, the transitions, the events and the rules of a kind of record.

import type {
  DeclaredParts,
  RecordBase,
  RecordShape,
  Resource,
  ResourceDeclaration,
  Rule,
  Transitions,
  UpdateEvents,
} from "../../contracts/resource.ts";
import { knownCurrency } from "../../kernel/money.ts";
import { assumed } from "../../schema/assumed.ts";
import {
  id,
  metadata,
  oneOf,
  type Static,
  type TObject,
  type TProperties,
  type TUnsafe,
  Type,
  timestamp,
} from "../../schema/shapes.ts";
import { statesBefore } from "../../store/records/transitions.ts";
import { arrivalTimesOf, describeTransitions, orderRules, timeRules } from "./state-rules.ts";

const DEFAULT_PARTS = {
  worldChecks: [],
  warnings: [],
  listed: {},
  series: [],
  references: {},
  unique: [],
  hidden: [],
  derived: [],
  datesMoveBy: "weeks",
} as const;

const SHAPE_WHY =
  "The service's documentation names the resource but does not list its fields; these are common to comparable APIs.";

export function resource<const F extends TProperties, const S extends string = string>(
  declared: ResourceDeclaration<F, S>,
): Resource<RecordShape<F, S>> {
  type R = RecordShape<F, S>;
  const {
    fields,
    states: declaredStates = {},
    created: _,
    updated = {},
    rules = [],
    livemode,
    defaults,
    ...parts
  } = declared;
  const { kind, prefix } = parts;
  const documented = livemode === false;
  const updates = (typeof updated === "string" ? { [updated]: {} } : updated) as UpdateEvents<R>;
  const states = declaredStates as unknown as Resource<R>["states"];
  const [first] = Object.keys(states);
  const transitions = Object.fromEntries(Object.entries(states).map(([name, { to }]) => [name, to]));
  const arrivalTimes = arrivalTimesOf(states);
  const schema = Type.Object(
    {
      id: id(prefix, "Unique identifier of the object"),
      object: oneOf([kind], "Type of the object"),
      merchantId: id("mer", "Merchant that owns the object"),
      ...(first === undefined ? {} : { status: oneOf(Object.keys(states), describeTransitions(transitions)) }),
      ...fields,
      metadata: metadata(),
      created: assumed(
        timestamp("Time at which the object was created"),
        "The service's documentation gives an integer without a unit; most services use seconds.",
      ),
      ...(documented
        ? {}
        : { livemode: Type.Boolean({ const: false, description: "Always false: no money moves here" }) }),
    },
    { title: kind },
  );
  return {
    ...DEFAULT_PARTS,
    ...(parts as unknown as Pick<Resource<R>, "kind" | "prefix" | "view"> & DeclaredParts<R>),
    schema: (documented ? schema : assumed(schema, SHAPE_WHY)) as unknown as Resource<R>["schema"],
    states,
    changesWithTime: Object.values(states).some(({ next }) => next !== undefined),
    transitions,
    events: eventsOf(declared, transitions, Object.keys(updates)),
    updates,
    arrivalTimes,
    rules: [
      ...("currency" in fields ? [knownCurrency] : []),
      ...(rules as unknown as readonly Rule<R>[]),
      ...orderRules({ transitions, arrivalTimes }),
      ...timeRules({ kind, transitions, arrivalTimes }),
    ],
    defaults: { ...(first === undefined ? {} : { status: first }), ...defaults } as Partial<R>,
  };
}

interface DeclaredEvents {
  states?: Readonly<Record<string, { event?: string }>>;
  created?: string | null;
}

function eventsOf(
  { states = {}, created }: DeclaredEvents,
  transitions: Transitions,
  updates: readonly string[],
): Record<string, string> {
  const all = Object.entries(states);
  const creation = created === undefined ? all[0]?.[1].event : created;
  // Entering the initial state has an event of its own only if a record can return to that state.
  const arrivals = all
    .filter(([name]) => statesBefore(transitions, name).length > 0)
    .map(([name, { event }]) => [name, event]);
  const changes = updates.map((type) => [type.split(".").at(-1), type]);
  return Object.fromEntries([["created", creation], ...arrivals, ...changes].filter(([, event]) => event != null));
}

/** The schema of a record with additional fields for one response. */
export function withFields<R extends RecordBase, const F extends TProperties>(
  resource: Resource<R>,
  fields: F,
): TUnsafe<R & Static<TObject<F>>> {
  return assumed(
    Type.Unsafe<R & Static<TObject<F>>>(Type.Object({ ...resource.schema.properties, ...fields })),
    SHAPE_WHY,
  );
}
