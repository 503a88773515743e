// The kinds of record that background traffic creates: how often it creates each, and what happens to the records
// afterwards.

import { type SettledPayment, total, unpaidShares } from "../contracts/payment-shares.ts";
import { dueTaxes, endingMemberships, mayJoin } from "../contracts/renewed-periods.ts";
import type { AnyRecord, RecordBase } from "../contracts/resource.ts";
import { dayAt, nextBusinessDay } from "../kernel/calendar.ts";
import type { Draws } from "../kernel/random.ts";
import type { Behaviour } from "../schema/assumed.ts";
import type { JsonObject } from "../schema/schema.ts";
import type { OperationContext } from "../store/operation-context.ts";
import type { Collection } from "../store/records/collection.ts";

/** Customers come at the hours of trade; offices are closed on weekends. */
export const HOURS = { trade: { from: 8, to: 22 }, office: { from: 9, to: 17 } } as const;

/** A traffic step: its random values, its time, and the merchant's records. */
export interface StepContext extends Draws {
  caller: OperationContext;
  /** The calendar day in the merchant's time zone. */
  today: string;
  /** The merchant's records of a kind. */
  own(kind: string): Collection<RecordBase>;
  newest(kind: string, count: number): AnyRecord[];
  merchant(): AnyRecord;
}

export interface TrafficKind {
  /** How often this kind is chosen, relative to the others. */
  weight: number;
  /** The hours at which traffic has this kind, in the merchant's time zone (default: any). */
  hours?: keyof typeof HOURS;
  /** By default, traffic has this kind for merchants with a record of one of these kinds (default: the kind itself). */
  basedOn?: readonly string[];
  /**
   * Fields of a new record that its sample must not choose; undefined while no record should be created (default: no
   * fields).
   */
  newRecord?(step: StepContext): JsonObject | undefined;
  /**
   * The probability of each next state, by state. The remaining records, up to 1, stay in their state or wait for time
   * to move them.
   */
  transitions: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Fields to change when a record enters a state, in addition to the fields that the state sets. */
  onEnter?: Readonly<Record<string, (step: StepContext, isInstead: boolean) => JsonObject>>;
  /** Whether traffic also moves the records that wait for their next state when it starts. */
  takesOver?: true;
  /** Whether a record goes on to its next state in the step that made it. */
  goesOn?(record: AnyRecord): boolean;
  /** The state of a record that could not enter another one, which it enters instead. */
  otherwise?: Readonly<Record<string, string>>;
  /** A record that someone else made and whose time to enter this state has come. */
  submits?: { status: string; due(step: StepContext): AnyRecord | undefined };
  /**
   * Prepares the merchant for a record that enters a state, such as by buying stock. Returns false if the record must
   * stay.
   */
  prepare?: Readonly<Record<string, (step: StepContext, record: AnyRecord) => boolean>>;
}

export const countryOf = ({ merchant }: Pick<StepContext, "merchant">) =>
  (merchant().country as string | undefined) ?? null;

/** Income in the merchant's currency from payments that no payout contains yet. */
function takings({ own, merchant }: StepContext): number {
  const payments = own("payment").outstanding() as unknown as SettledPayment[];
  return total(unpaidShares(payments, (merchant().currency as string | undefined) ?? null));
}

/** A payment is refunded only if the takings cover it. */
const isCovered = (step: StepContext, { status, amount }: AnyRecord) =>
  status !== "succeeded" || takings(step) >= Number(amount);

const payment: TrafficKind = {
  weight: 40,
  takesOver: true,
  hours: "trade",
  transitions: { pending: { succeeded: 0.9, failed: 0.1 }, succeeded: { refunded: 0.05 } },
  // Only a bank transfer takes longer than some seconds.
  goesOn: ({ status, method }) => status === "pending" && method !== "bank_transfer",
  prepare: { refunded: isCovered },
};

const payout: TrafficKind = {
  weight: 6,
  basedOn: ["payout", "payout_method"],
  newRecord: payOut,
  transitions: { pending: { in_transit: 0.97, canceled: 0.03 }, in_transit: { paid: 0.95, failed: 0.05 } },
};

/** Pays out all takings, once a day or as soon as there are many payments, to a payout method that did not fail. */
function payOut(step: StepContext): JsonObject | undefined {
  const [last] = step.newest("payout", 1);
  const isPaidOutToday = last !== undefined && dayAt(countryOf(step), last.created * 1_000) === step.today;
  if (isPaidOutToday && step.newest("payment", MANY_PAYMENTS).some(({ paidOutAmount }) => paidOutAmount !== 0))
    return undefined;
  const method = step
    .newest("payout_method", 100)
    .find(({ isDefault, status }) => isDefault === true && status !== "failed");
  if (!method) return undefined;
  return takings(step) > 0 ? { payoutMethodId: method.id } : undefined;
}

const MANY_PAYMENTS = 100;

const booking: TrafficKind = {
  weight: 14,
  hours: "trade",
  transitions: { pending: { confirmed: 0.75, declined: 0.15, cancelled: 0.1 }, confirmed: { cancelled: 0.1 } },
  otherwise: { confirmed: "declined" },
  onEnter: {
    declined: (step, isFull) => ({
      declineReason: isFull ? "The house is full on these days." : step.pick("reason", REASONS),
    }),
  },
  prepare: { cancelled: canRefundDeposit, declined: canRefundDeposit },
};

const REASONS = ["The house takes no pets.", "The desk is closed at the hour of arrival."] as const;

function canRefundDeposit(step: StepContext, { paymentId }: AnyRecord): boolean {
  const deposit = typeof paymentId === "string" ? step.own("payment").find(paymentId) : undefined;
  return deposit === undefined || isCovered(step, deposit as AnyRecord);
}

const order: TrafficKind = {
  weight: 12,
  hours: "trade",
  transitions: {
    pending: { accepted: 0.9, refused: 0.05, canceled: 0.05 },
    accepted: { shipped: 0.96, canceled: 0.04 },
    shipped: { delivered: 0.98 },
  },
  prepare: { accepted: restock },
};

/** Buys stock for the items that are almost sold out. */
function restock({ own }: StepContext, { items }: AnyRecord): boolean {
  const variants = own("product_variant");
  for (const { variantId, quantity } of items as { variantId: string | null; quantity: number }[]) {
    const variant = variantId === null ? undefined : (variants.find(variantId) as AnyRecord | undefined);
    if (typeof variant?.stockQuantity !== "number" || variant.stockQuantity >= quantity + LOW_STOCK) continue;
    variants.update(variant, { stockQuantity: variant.stockQuantity + quantity + PURCHASE });
  }
  return true;
}

const LOW_STOCK = 5;
const PURCHASE = 50;

const renewal: TrafficKind = {
  weight: 5,
  hours: "trade",
  newRecord: renewOrJoin,
  submits: {
    status: "renewed",
    due: ({ newest, today }) =>
      newest("membership_renewal", 50).find(
        ({ status, dueDate }) => status === "pending" && String(dueDate ?? "9") <= today,
      ),
  },
  // Only the date begins and ends the grace period.
  transitions: { pending: { canceled: 0.05 }, grace: { renewed: 0.5, canceled: 0.1 } },
};

/** Memberships are renewed before they end; in a week without a renewal, a customer joins. */
function renewOrJoin({ newest, today, caller, chance }: StepContext): JsonObject | undefined {
  const renewals = newest("membership_renewal", 50);
  if (endingMemberships(renewals, today).length > 0) return {};
  const [last] = renewals;
  const customers = newest("customer", 50);
  const isQuiet = last === undefined || last.created <= caller.now - 7 * 86_400;
  if (!isQuiet || (customers.length > 0 && !customers.some((customer) => mayJoin(customer, renewals, today))))
    return undefined;
  return { autoRenew: chance("auto") < 0.5 };
}

const customer: TrafficKind = { weight: 6, hours: "trade", transitions: {} };

const regularRuns = ({ newest }: StepContext) => newest("payroll", 100).filter(({ offCycle }) => offCycle !== true);

const payroll: TrafficKind = {
  weight: 4,
  hours: "office",
  // One regular run for each period, once the period has begun. The merchant's settings say how long a period is.
  newRecord: (step) =>
    regularRuns(step).some(({ status, periodEnd }) => status !== "failed" && String(periodEnd ?? "") >= step.today)
      ? undefined
      : {},
  submits: {
    status: "pending",
    due: (step) =>
      regularRuns(step).find(
        ({ status, payDate }) => status === "draft" && String(payDate) <= nextBusinessDay(step.today),
      ),
  },
  transitions: {
    draft: { pending: 1 },
    pending: { processing: 1 },
    processing: { paid: 0.94, partially_paid: 0.04, failed: 0.02 },
  },
};

/**
 * Traffic creates no remittances: payroll runs create them when they are paid, and traffic pays them before they are
 * due, or once overdue.
 */
const remittance: TrafficKind = {
  weight: 4,
  hours: "office",
  basedOn: ["remittance", "statutory_settings"],
  newRecord: () => undefined,
  submits: {
    status: "paid",
    due: ({ newest, today }) =>
      newest("remittance", 100).find(
        ({ status, dueDate }) =>
          status === "overdue" || (status === "pending" && String(dueDate ?? "9") <= nextBusinessDay(today)),
      ),
  },
  transitions: { paid: { confirmed: 0.9 } },
};

const govPayment: TrafficKind = {
  weight: 2,
  takesOver: true,
  hours: "office",
  newRecord: ({ newest, today }) => (dueTaxes(newest("gov_payment", 50), today).length === 0 ? undefined : {}),
  transitions: { pending: { paid: 0.95, failed: 0.05 } },
};

const syncLog: TrafficKind = {
  weight: 7,
  hours: "trade",
  transitions: { running: { succeeded: 0.85, partial: 0.1, failed: 0.05 } },
};

export const kinds: Readonly<Record<string, TrafficKind>> = {
  payment,
  booking,
  marketplace_order: order,
  customer,
  payout,
  membership_renewal: renewal,
  sync_log: syncLog,
  payroll,
  remittance,
  gov_payment: govPayment,
};

export const behaviours: Behaviour[] = [
  {
    id: "traffic.decisions",
    fact: "Up to 12 actions an hour, traffic keeps hours in the merchant's time zone: customers come from 08:00 to 22:00; payrolls, remittances and taxes are made from 09:00 to 17:00 on business days, once they are due; a membership is renewed from twenty days before its period ends, and in a week without a renewal a customer joins. A payment by card or mobile money succeeds or fails in the second that it is made, a bank transfer takes hours. Only a full house declines a booking as full.",
    why: "The sandbox's own traffic: its records hold for a clerk who reads them, and a test of a load needs no closing time.",
  },
];
