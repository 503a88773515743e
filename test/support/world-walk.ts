// A random walk through one merchant's world: records are made, moved, changed and refused, over the operations of the API and the control plane.

import { catalogue, eventTypes, resources } from "../../src/areas/index.ts";
import type { Resource } from "../../src/contracts/resource.ts";
import type { AnyRecord } from "../../src/contracts/sample.ts";
import { createClock } from "../../src/kernel/clock.ts";
import { ApiError } from "../../src/kernel/errors.ts";
import { createRandom } from "../../src/kernel/random.ts";
import type { JsonObject } from "../../src/schema/schema.ts";
import { changeAdminRecord } from "../../src/store/records/admin-records.ts";
import { makeRecord } from "../../src/store/records/sample-record.ts";
import { openStores } from "../../src/store/stores.ts";
import { checkWorld, type WorldViolation } from "../../src/store/world/check-world.ts";

const MERCHANT = "mer_walk";
const START = Date.UTC(2026, 0, 5, 12);
const kinds = resources.filter(({ hidden, kind }) => hidden.length === 0 && kind !== "merchant");

/** Operations of the API on records, with a body; login and creating merchants change no records of the merchant. */
const operations = catalogue.filter(({ body, id }) => body !== undefined && !/^(merchants|webhooks|events)\./.test(id));

/** Changes that a caller may try without a move, right or wrong. */
const CHANGES: readonly JsonObject[] = [
  { metadata: { touched: true } },
  { refundedAmount: 100 },
  { refundedAmount: 1 },
  { amount: 700 },
  { amount: 0, fee: 5 },
  { currency: "XYZ" },
  { currency: "USD" },
  { checkOut: "2026-01-01" },
  { customerId: "cus_nobody" },
  { stockQuantity: 3 },
  { isDefault: false },
  { items: [] },
  { payments: [] },
  { paidAt: 1 },
  { adjustmentType: "percentage", adjustmentValue: -20_000 },
];

export interface WalkResult {
  steps: number;
  accepted: number;
  refused: number;
  events: ReadonlySet<string>;
  violations: (WorldViolation & { step: string })[];
}

/** Walks so many steps from a merchant without records, and checks the whole world after each of them. */
export function walk(seed: number, steps: number): WalkResult {
  const random = createRandom(seed);
  const stores = openStores({ clock: createClock(START), random, webhooks: { gaps: [0], checkTarget: () => {}, eventTypes } });
  const { database, createOperationContext, counters } = stores;
  const happened = new Set<string>();
  const result: WalkResult = { steps: 0, accepted: 0, refused: 0, events: happened, violations: [] };
  const pick = <T>(of: readonly T[], ...name: (string | number)[]) => of[Math.floor(random.fraction("walk", ...name) * of.length)] as T;
  const contextAt = (now: number) => createOperationContext(MERCHANT, now, undefined, { emitted: (type) => happened.add(type) });
  try {
    const merchant = { id: MERCHANT, name: "Walk", email: "walk@walk.example", country: "PT", currency: "EUR" };
    database.transaction(() =>
      contextAt(START / 1_000)
        .own(kindNamed("merchant"))
        .create(merchant),
    );
    for (let step = 0; step < steps && result.violations.length === 0; step++) {
      const now = START / 1_000 + step * 600;
      const context = contextAt(now);
      const own = (resource: Resource) => context.own(resource);
      const choose = <T>(of: readonly T[], word: string) => pick(of, step, word);
      const resource = choose(kinds, "kind");
      const record = choose(own(resource).newestOf(20), "record");
      const label = `${step}`;
      const doing = choose(["make", "move", "move", "move", "change", "operate"], "doing");
      const actions: Record<string, () => string> = {
        make() {
          const status = choose([undefined, ...Object.keys(resource.transitions)], "status");
          const given = {
            ...(status === undefined ? {} : { status }),
            ...(choose([true, false, false], "spoil") ? fitting(resource, choose(CHANGES, "change")) : {}),
          };
          makeRecord({ resources, random, counters }, () => context, resource, given);
          return `make ${resource.kind} ${JSON.stringify(given)}`;
        },
        move() {
          const status = choose(Object.keys(resource.transitions), "status");
          if (record && status) changeAdminRecord(resource, () => own(resource), record.id, { status });
          return `move ${record?.id} ${status}`;
        },
        change() {
          const change = fitting(resource, choose(CHANGES, "change"));
          if (record) changeAdminRecord(resource, () => own(resource), record.id, change);
          return `change ${record?.id} ${JSON.stringify(change)}`;
        },
        operate() {
          const operation = choose(operations, "operation");
          const target = (kind: string) => choose(own(kindNamed(kind)).newestOf(20), kind)?.id ?? "nothing";
          const payroll = choose(own(kindNamed("payroll")).newestOf(5), "run") as unknown as
            | { id: string; items: { id: string }[] }
            | undefined;
          const kind = operation.id.startsWith("bookings") ? "booking" : operation.id.startsWith("gov") ? "gov_payment" : "remittance";
          const id = operation.id.startsWith("payroll") ? (payroll?.id ?? "nothing") : target(kind);
          const params = { id, iid: payroll?.items[0]?.id ?? "nothing", productId: target("product") };
          operation.handle({ ...context, params, query: {}, body: { ...operation.example, sku: `W-${step}` }, extra: {} });
          return `call ${operation.id} ${JSON.stringify(params)}`;
        },
      };
      let done = `${label} ${doing} ${resource.kind}`;
      try {
        database.transaction(() => {
          done = `${label} ${(actions[doing] as () => string)()}`;
        });
        result.accepted++;
      } catch (error) {
        if (!(error instanceof ApiError)) throw new Error(`${done}: ${(error as Error).message}`, { cause: error });
        result.refused++;
      }
      result.steps++;
      result.violations.push(
        ...checkWorld({ resources, world: new Map(kinds.map((kind) => [kind.kind, own(kind).all() as AnyRecord[]])), now }).map(
          (violation) => ({ ...violation, step: done }),
        ),
      );
    }
  } finally {
    stores.close();
  }
  return result;
}

const kindNamed = (kind: string) => resources.find((resource) => resource.kind === kind) as Resource;

/** The fields of a change that the kind has. */
const fitting = ({ schema }: Resource, change: JsonObject) =>
  Object.fromEntries(Object.entries(change).filter(([name]) => Object.hasOwn(schema.properties, name)));
