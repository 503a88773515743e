// How to cause each type of event: create a record in a state, change it, or call an operation on it.

import type { RecordBase, Resource } from "../contracts/resource.ts";
import { fail } from "../kernel/errors.ts";
import { factOf } from "../schema/assumed.ts";
import type { JsonObject } from "../schema/schema.ts";
import type { Static } from "../schema/shapes.ts";
import type { Operation } from "../store/operation-context.ts";
import { statesBefore } from "../store/records/transitions.ts";
import { overridePayrollItem, payrolls } from "./employees.ts";
import { govPayments, postGovPayment } from "./gov-payments.ts";
import { catalogue, eventTypes, resources } from "./index.ts";
import { createMerchant } from "./merchants.ts";

export interface EventSource {
  type: string;
  /** The kind of the event's record; undefined if the operation creates the record. */
  resource: Resource | undefined;
  /** The status in which to create the record (default: the first). */
  status?: string | undefined;
  /** Whether the merchant has only one record of the kind. It is then changed, and created only if it is missing. */
  isOnly: boolean;
  /** The status to which the record then returns. */
  back?: string;
  /** The fields that are then changed. */
  change?(record: RecordBase): JsonObject;
  /** `change` as flags of the command `move`. */
  flags?: string;
  /** The operation that is then called. */
  call?: OperationCall;
  /** The operations of the API that emit or may emit the event. */
  operations: readonly Operation[];
  /** Commands that create the record for the call, if the operation's own example does not emit the event. */
  before: readonly string[];
}

/** How to call the operation. Sources without a record pass an empty one. */
interface OperationCall {
  operation: Operation;
  params(record: RecordBase): Record<string, string>;
  /** `unique` is a new text for each call, for fields with unique values. */
  body(record: RecordBase, unique: string): JsonObject;
}

const ONLY_ONE = ["merchant", "statutory_settings"];

/** Events that only an operation emits, and the record that the operation needs. */
const CALLS: Readonly<Record<string, { resource?: Resource; status?: string; call: OperationCall }>> = {
  "merchant.created": {
    call: {
      operation: createMerchant,
      params: () => ({}),
      body: (_, unique) => ({
        name: "Café Lusíada",
        email: `${unique}@lusiada.example`,
        country: "PT",
        currency: "EUR",
      }),
    },
  },
  "payroll_item.overridden": {
    resource: payrolls as unknown as Resource,
    call: {
      operation: overridePayrollItem,
      params: (record) => ({ id: record.id, iid: firstItem(record).id }),
      body: (record) => ({
        netAmount: Math.round(firstItem(record).netAmount * 0.95),
        reason: "A day of unpaid leave.",
      }),
    },
  },
  "gov_payment.posted": {
    resource: govPayments as unknown as Resource,
    status: "paid",
    call: { operation: postGovPayment, params: ({ id }) => ({ id }), body: () => ({}) },
  },
};

function firstItem(run: RecordBase) {
  const [item] = (run as unknown as Static<typeof payrolls.schema>).items;
  return item ?? fail("validation_failed", "The payroll needs an item: one item is overridden.");
}

/** Changes with their own event. For all other update events, the metadata is changed. */
const CHANGES: Readonly<Record<string, Required<Pick<EventSource, "status" | "change" | "flags">>>> = {
  "payment.partially_refunded": {
    status: "succeeded",
    change: (record) => ({ refundedAmount: Math.round(Number((record as { amount?: unknown }).amount ?? 0) / 2) }),
    flags: "--refunded-amount 1.00",
  },
};

/** `<id>` is the id of the record that the previous command created. */
const BEFORE_CALL: Readonly<Record<string, readonly string[]>> = {
  "payment.refunded": ["make payment --status succeeded", "make booking --payment <id>"],
};

const anyChange = ({ metadata }: RecordBase) => ({ metadata: { ...metadata, note: "changed" } });

/** The source of each type of event, in the order of the resources. */
export const eventSources: ReadonlyMap<string, EventSource> = new Map(
  [...eventTypes].map((type) => [
    type,
    {
      ...sourceOf(type),
      type,
      operations: catalogue.filter(
        ({ emits, mayEmit }) => emits.map(factOf).includes(type) || mayEmit[type] !== undefined,
      ),
      before: BEFORE_CALL[type] ?? [],
    },
  ]),
);

function sourceOf(type: string): Omit<EventSource, "type" | "operations" | "before"> {
  const called = CALLS[type];
  if (called) return { resource: undefined, isOnly: false, ...called };
  for (const resource of resources) {
    const entry = Object.entries(resource.events).find(([, event]) => event === type);
    if (entry) return { resource, isOnly: ONLY_ONE.includes(resource.kind), ...wayTo(resource, entry[0], type) };
  }
  throw new Error(`${type} has no source: an operation that emits it is missing in CALLS`);
}

function wayTo(resource: Resource, arrival: string, type: string): Partial<EventSource> {
  const first = resource.defaults.status;
  if (arrival === "created") return { status: first };
  if (arrival === first) return { status: statesBefore(resource.transitions, first)[0], back: first };
  if (Object.hasOwn(resource.states, arrival)) return { status: arrival };
  return CHANGES[type] ?? { status: first, change: anyChange, flags: `--metadata '{"note": "changed"}'` };
}
