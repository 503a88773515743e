// Random calls to a sandbox with the seeded merchants, over real sockets. Calls of both APIs create records, change
// them and their status, advance the clock, or are rejected. After each call, the merchant's records (its world) are
// checked.

import { Agent } from "node:http";
import { join } from "node:path";
import { catalogue, resources } from "../../src/areas/index.ts";
import type { AnyRecord, RecordsByKind, Resource } from "../../src/contracts/resource.ts";
import type { JsonObject } from "../../src/kernel/json-object.ts";
import { createRandom } from "../../src/kernel/random.ts";
import { folder } from "./program.ts";
import { type Answer, NOON, NOON_SECONDS, share } from "./sandbox.ts";
import { contradictionsIn, openWorldFile, type WorldFile } from "./world-file.ts";

/** Merchants in Portugal, Kenya, Japan and Switzerland. The last one begins without records. */
const MERCHANTS = ["lodge", "market", "stage", "blank"];
const kinds = resources.filter(({ hidden }) => hidden.length === 0);
const makeable = kinds.filter(({ kind }) => kind !== "merchant");

/** Operations with a body that change records of the merchant, without those on merchants, webhooks and events. */
const operations = catalogue.filter(({ body, id }) => body !== undefined && !/^(merchants|webhooks|events)\./.test(id));

const MOST = Number.MAX_SAFE_INTEGER;

/** Changes of fields other than the status, valid or not. */
const CHANGES: readonly JsonObject[] = [
  { metadata: { touched: true } },
  { refundedAmount: 100 },
  { refundedAmount: 1 },
  { amount: 700 },
  { amount: 0, fee: 5 },
  { amount: MOST },
  { fee: MOST },
  { currency: "XYZ" },
  { currency: "USD" },
  { country: "JP" },
  { checkIn: "2026-02-27" },
  { checkOut: "2026-01-01" },
  { nightlyRate: MOST },
  { customerId: "cus_nobody" },
  { stockQuantity: 3 },
  { stockQuantity: MOST },
  { stockQuantity: null },
  { shippingAmount: 500 },
  { isDefault: false },
  { isDefault: true },
  { items: [] },
  { payments: [] },
  { paidAt: 1 },
  { paidAt: null },
  { payDate: "2026-01-31" },
  { dueDate: "2026-01-20" },
  { arrivalDate: "2026-01-09" },
  { autoRemit: true },
  { autoRenew: true },
  { remittanceDueDay: 28 },
  { employeeAmount: 5 },
  { paidOutAmount: 0 },
  { payoutId: null },
  { acceptedAt: null },
  { adjustmentType: "percentage", adjustmentValue: -20_000 },
  { adjustmentType: "fixed", adjustmentValue: MOST },
];

const SPANS = ["1m", "2h", "9h", "1d", "3d", "12d"];

/** At every step whose number is a multiple of this, the records of the other merchants are checked too. */
const ALL_WORLDS = 50;

export interface WalkResult {
  steps: number;
  accepted: number;
  events: ReadonlySet<string>;
  /** The call that caused a problem, with each problem. */
  violations: string[];
}

interface Step {
  merchant: string;
  key: string;
  world: RecordsByKind;
  choose<T>(of: readonly T[], word: string): T;
}

interface Action {
  method: string;
  path: string;
  key: string | null;
  body: JsonObject;
}

/** Makes this many calls, and checks all records of the called merchant after each call. */
export async function walk(seed: number, steps: number): Promise<WalkResult> {
  const file = join(folder(), "walk.db");
  // A thousand seeds share their seeded records, because seeding takes as long as twenty steps.
  const bench = await share({ memory: false, db: file, clock: NOON, seed: seed - (seed % 1_000) });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const records = openWorldFile(file);
  const worlds = new Map(MERCHANTS.map((name) => [`mer_${name}`, records.records(`mer_${name}`)]));
  const random = createRandom(seed);
  const result = { steps: 0, accepted: 0, violations: [] as string[] };
  let now = NOON_SECONDS;
  try {
    for (let step = 0; step < steps && result.violations.length === 0; step++) {
      const choose = <T>(of: readonly T[], word: string) =>
        of[Math.floor(random.fraction("walk", step, word) * of.length)] as T;
      const name = choose(MERCHANTS, "merchant");
      const merchant = `mer_${name}`;
      const world = worlds.get(merchant) as RecordsByKind;
      const action = choose(ACTIONS, "action")({ merchant, key: `sk_test_${name}`, world, choose });
      const answer = await bench.call(action.method, action.path, { key: action.key, body: action.body, agent });
      result.steps++;
      if (answer.status < 300) result.accepted++;
      const isTime = action.path.endsWith("/advance");
      if (isTime) now = Date.parse(answer.body.now) / 1_000;
      const call = `${action.method} ${action.path} ${JSON.stringify(action.body)}`;
      const done = `seed ${seed} step ${step} ${merchant}: ${call}`;
      const changed = isTime || step % ALL_WORLDS === 0 ? [...worlds.keys()] : [merchant];
      result.violations = problemsAfter(records, { changed, now, worlds, action, answer }).map(
        (problem) => `${done}\n${problem}`,
      );
    }
    return { ...result, events: new Set(records.eventTypes()) };
  } finally {
    agent.destroy();
    records.close();
    // Reports only the violation, because it explains more than the defect that caused it.
    if (result.violations.length > 0) bench.defects.length = 0;
    await bench.close();
  }
}

interface Done {
  changed: readonly string[];
  now: number;
  worlds: Map<string, RecordsByKind>;
  action: Action;
  answer: Answer;
}

/** Reads the records of the merchants that the step may have changed, and checks them if they did change. */
function problemsAfter(file: WorldFile, { changed, now, worlds, action, answer }: Done): string[] {
  const problems = answer.status < 500 ? [] : [`answered ${answer.status}: ${answer.text}`];
  for (const merchant of changed) {
    const before = worlds.get(merchant) as RecordsByKind;
    const after = file.records(merchant);
    if (after === before) continue;
    worlds.set(merchant, after);
    problems.push(...contradictionsIn(after, now), ...stockLedger(before, after, setByCaller(action)));
  }
  return problems;
}

const recordsOf = ({ world }: Step, kind: string): readonly AnyRecord[] => (world.get(kind) ?? []).slice(-20);

const make = (step: Step): Action => {
  const { choose, merchant } = step;
  const resource = choose(makeable, "kind");
  const status = choose([undefined, ...Object.keys(resource.transitions)], "status");
  const isSpoilt = choose([true, false, false], "spoil");
  return {
    method: "POST",
    path: `/_sandbox/records/${resource.kind}`,
    key: null,
    body: { merchant, ...(status === undefined ? {} : { status }), ...(isSpoilt ? changeOf(step, resource) : {}) },
  };
};

const patch = ({ choose, merchant, world }: Step, resource: Resource, fields: JsonObject): Action => {
  const record = choose((world.get(resource.kind) ?? []).slice(-20), "record");
  return {
    method: "PATCH",
    path: `/_sandbox/records/${resource.kind}/${record?.id ?? "nothing"}`,
    key: null,
    body: { merchant, ...fields },
  };
};

const move = (step: Step): Action => {
  const resource = step.choose(kinds, "kind");
  const status = step.choose(Object.keys(resource.transitions), "status");
  const fields = step.choose([{}, {}, {}, changeOf(step, resource)], "spoil");
  return patch(step, resource, { ...fields, ...(status === undefined ? {} : { status }) });
};

const change = (step: Step): Action => {
  const resource = step.choose(kinds, "kind");
  return patch(step, resource, changeOf(step, resource));
};

/** A call of a service operation with its example body, on a record of the merchant. */
const operate = (step: Step): Action => {
  const { choose, key } = step;
  const { id, path, method, example = {} } = choose(operations, "operation");
  const run = choose(recordsOf(step, "payroll"), "run") as (AnyRecord & { items: { id: string }[] }) | undefined;
  const paid = id.startsWith("gov") ? "gov_payment" : "remittance";
  const kind = id.startsWith("bookings") ? "booking" : paid;
  const target = id.startsWith("payroll") ? run : choose(recordsOf(step, kind), kind);
  const params: Record<string, string | undefined> = {
    id: target?.id,
    iid: choose(run?.items ?? [], "item")?.id,
    productId: choose(recordsOf(step, "product"), "product")?.id,
  };
  const known = path.replaceAll(/\{(\w+)\}/g, (_, name) => params[name] ?? "nothing");
  const sku = choose(["W-1", "W-2", "W-3", "W-4", "W-5", "W-6"], "sku");
  return { method, path: `/v1${known}`, key, body: { ...example, ...(id === "variants.create" ? { sku } : {}) } };
};

const wait = ({ choose }: Step): Action => ({
  method: "POST",
  path: "/_sandbox/clock/advance",
  key: null,
  body: { by: choose(SPANS, "span") },
});

const ACTIONS: readonly ((step: Step) => Action)[] = [
  make,
  make,
  move,
  move,
  move,
  move,
  change,
  operate,
  operate,
  wait,
];

/** A random change of fields that the kind has. It may refer to other records, of this or another merchant. */
function changeOf(step: Step, resource: Resource): JsonObject {
  const { choose } = step;
  const all = [
    ...CHANGES,
    { items: itemsOf(step) },
    { payments: sharesOf(step) },
    { customerId: choose(recordsOf(step, "customer"), "customer")?.id },
  ];
  const fitting = all
    .map((fields) =>
      Object.fromEntries(Object.entries(fields).filter(([name]) => Object.hasOwn(resource.schema.properties, name))),
    )
    .filter((fields) => Object.keys(fields).length > 0);
  return choose(fitting, "change") ?? {};
}

/** Items of an order. The product and the variant may not belong together, or may be another merchant's. */
function itemsOf(step: Step) {
  const { choose } = step;
  return ["first", "second"].map((word) => ({
    productId: choose(
      [null, "prod_kiondo", "prod_chai", ...recordsOf(step, "product").map(({ id }) => id)],
      `${word} product`,
    ),
    variantId: choose(
      [null, "var_kiondo_s", "var_chai_250", ...recordsOf(step, "product_variant").map(({ id }) => id)],
      `${word} variant`,
    ),
    sku: null,
    name: "Something",
    quantity: choose([1, 2, 3, 60, MOST], `${word} quantity`),
    unitAmount: choose([0, 100, 2_500, MOST], `${word} price`),
  }));
}

/** Payments that a payout may claim, with right and wrong amounts. */
function sharesOf(step: Step) {
  const payment = step.choose(recordsOf(step, "payment"), "payment");
  const shares = [1, Number(payment?.amount ?? 0), Number(payment?.amount ?? 0) - Number(payment?.fee ?? 0)];
  return payment ? [{ paymentId: payment.id, amount: step.choose(shares, "share") }] : [];
}

interface Item {
  variantId: string | null;
  quantity: number;
}

/** The stock of each variant that accepted orders have taken and not returned. */
function takenOf(world: RecordsByKind): Map<string, number> {
  const taken = new Map<string, number>();
  for (const { status, acceptedAt, items } of world.get("marketplace_order") ?? []) {
    if (acceptedAt == null || status === "canceled" || status === "refused") continue;
    for (const { variantId, quantity } of items as Item[])
      if (variantId !== null) taken.set(variantId, (taken.get(variantId) ?? 0) + quantity);
  }
  return taken;
}

/**
 * The variants whose stock did not change by the quantity that orders took. Leaves out variants whose stock is not
 * counted or was set by the caller.
 */
function stockLedger(before: RecordsByKind, after: RecordsByKind, isSet: (variant: AnyRecord) => boolean): string[] {
  const [taken, takenNow] = [takenOf(before), takenOf(after)];
  const earlier = new Map((before.get("product_variant") ?? []).map((variant) => [variant.id, variant]));
  return (after.get("product_variant") ?? []).flatMap((variant) => {
    const { id, stockQuantity: left } = variant;
    const had = earlier.get(id)?.stockQuantity;
    if (typeof had !== "number" || typeof left !== "number" || isSet(variant)) return [];
    const took = (takenNow.get(id) ?? 0) - (taken.get(id) ?? 0);
    return had - left === took ? [] : [`${id}: its stock went from ${had} to ${left}; orders took ${took}`];
  });
}

/** Whether a request sets the stock of a variant itself. */
const setByCaller =
  ({ path, body }: { path: string; body: JsonObject }) =>
  ({ id }: AnyRecord) =>
    Object.hasOwn(body, "stockQuantity") && path.endsWith(`/product_variant/${id}`);
