// The kinds of records. Their fields, states and events are data, so the model takes them from the declarations. The
// model itself computes the values that a record gets when it arrives in a state.

import { eventTypes, resources } from "../../src/areas/index.ts";
import { webhookEndpoints } from "../../src/areas/webhooks.ts";
import type { Resource } from "../../src/contracts/resource.ts";

export { eventTypes };

export type Fields = Record<string, unknown>;

export type KindName = string;

/** What the states of a record need to know about its merchant. */
export interface Home {
  country: string | null;
  /** The default payout method. */
  payoutMethodId: string | null;
  /** The next number of a series, after the highest one in this field of the merchant's records. */
  next(kind: KindName, field: string, prefix: string): string;
}

export interface Kind extends Pick<Resource, "prefix" | "transitions" | "events" | "states"> {
  /** The values of a new record, without the fields that every kind has. */
  defaults: Fields;
  /** The fields that have the time of an arrival in a state. */
  times: string[];
  /** Pairs of time fields. The first time of a pair is never later than the second. */
  orders: (readonly [string, string])[];
}

const OF_EVERY_KIND = ["id", "object", "merchantId", "metadata", "created"];

const kinds = new Map(
  [...resources, webhookEndpoints].map((resource): [KindName, Kind] => {
    const { schema, defaults, arrivalTimes }: Resource = resource;
    const fields = (schema.required ?? []).filter((name) => !OF_EVERY_KIND.includes(name));
    const defaultOf = (name: string) => (name === "livemode" ? false : ((defaults as Fields)[name] ?? null));
    const own = Object.fromEntries(fields.map((name) => [name, defaultOf(name)]));
    return [
      resource.kind,
      { ...(resource as Resource), defaults: own, times: [...arrivalTimes.keys()], orders: ordersOf(resource) },
    ];
  }),
);

export const kindOf = (name: KindName): Kind => kinds.get(name) as Kind;

/** The pairs of arrival times whose order is fixed, because one state is always reached before the other. */
function ordersOf({
  kind,
  transitions,
  arrivalTimes,
}: Pick<Resource, "kind" | "transitions" | "arrivalTimes">): Kind["orders"] {
  const [first = ""] = Object.keys(transitions);
  const leads = (from: readonly string[], to: readonly string[]) =>
    from.some((state) => !to.includes(state) && to.some((other) => wayTo(transitions, state, other).length > 1));
  const orders = [...arrivalTimes].flatMap(([later, to]) => {
    const earlier = [...arrivalTimes]
      .filter(([field, from]) => field !== later && leads(from, to))
      .map(([field]) => field);
    return [...earlier, ...(to.includes(first) ? [] : ["created"])].map((field) => [field, later] as const);
  });
  return kind === "payment" ? [...orders, ["paidAt", "refundedAt"]] : orders;
}

/** The states on the shortest path, including both ends. Without a path, only the last state. */
export function wayTo(transitions: Kind["transitions"], from: string | undefined, to: string): string[] {
  if (from === undefined) return [];
  const cameFrom = new Map<string, string | undefined>([[from, undefined]]);
  for (const state of cameFrom.keys())
    for (const next of transitions[state] ?? []) if (!cameFrom.has(next)) cameFrom.set(next, state);
  const way = [to];
  for (let state = cameFrom.get(to); state !== undefined; state = cameFrom.get(state)) way.unshift(state);
  return way;
}

/**
 * The values that are set when a record arrives in a state. The time of a state is set only once, but a return to the
 * first state clears all times.
 */
export function arrivalValues(name: KindName, status: string, now: number, record: Fields, home: Home): Fields {
  const { states, times, defaults } = kindOf(name);
  const { at = [], fills = {} } = states[status] ?? {};
  const filled = { ...Object.fromEntries([at].flat().map((field) => [field, now])), ...fills };
  return {
    ...(status === defaults.status ? Object.fromEntries(times.map((field) => [field, null])) : {}),
    ...Object.fromEntries(Object.entries(filled).map(([field, value]) => [field, record[field] ?? value])),
    ...COMPUTED[`${name} ${status}`]?.(record, home, now),
  };
}

const FAILURES: Record<string, string> = { bank_transfer: "insufficient_funds", mobile_money: "timeout" };

/** The fields that the model computes when a record arrives in a state, by kind and state. */
const COMPUTED: Record<string, (record: Fields, home: Home, now: number) => Fields> = {
  "merchant active": () => ({ suspensionReason: null }),
  "event_organizer active": () => ({ suspensionReason: null }),
  "payment succeeded": (payment, home) => ({ fee: payment.fee ?? feeOf(payment, home) }),
  "payment failed": ({ method, failureCode }) => ({
    failureCode: failureCode ?? FAILURES[String(method)] ?? "card_declined",
  }),
  "payment refunded": ({ amount }, _, now) => ({ refundedAmount: amount ?? 0, refundedAt: now }),
  "payout pending": ({ payoutMethodId }, home) => ({ payoutMethodId: payoutMethodId ?? home.payoutMethodId }),
  "payout_method replaced": () => ({ isDefault: false }),
  "marketplace_order shipped": ({ id, trackingNumber }, home, now) => ({
    trackingNumber: trackingNumber ?? `TRK${String(id).slice(4).toUpperCase()}`,
    expectedDelivery: daysLater(dayOf(now, home), 3),
  }),
  "membership_renewal grace": ({ dueDate }, home, now) => ({
    graceUntil: daysLater(String(dueDate ?? dayOf(now, home)), 14),
  }),
  // The model ignores the plan. Without `periodEnd`, the period lasts a year.
  "membership_renewal renewed": ({ dueDate, ...record }, home, now) => {
    const periodStart = String(record.periodStart ?? dueDate ?? dayOf(now, home));
    const nextYear = `${Number(periodStart.slice(0, 4)) + 1}${periodStart.slice(4)}`;
    return { periodStart, periodEnd: record.periodEnd ?? daysLater(nextYear, -1) };
  },
  "appraisal completed": ({ finalScore, goals }) => ({
    finalScore: finalScore ?? meanOf(goals as { score: number | null }[]),
  }),
  "sync_log partial": ({ recordsFailed, errorMessage }) => ({
    recordsFailed: Math.max(Number(recordsFailed), 1),
    errorMessage: errorMessage ?? "The other system rejected some records.",
  }),
  "remittance paid": ({ paymentReference }, { next }) => ({
    paymentReference: paymentReference ?? next("remittance", "paymentReference", "REM"),
  }),
  "remittance confirmed": ({ paymentReference, receiptNumber, confirmedDate, confirmedAt }, home, now) => ({
    paymentReference: paymentReference ?? home.next("remittance", "paymentReference", "REM"),
    receiptNumber: receiptNumber ?? home.next("remittance", "receiptNumber", "R"),
    confirmedDate: confirmedDate ?? dayOf(Number(confirmedAt ?? now), home),
  }),
  "gov_payment paid": ({ receiptNumber }, { next }) => ({
    receiptNumber: receiptNumber ?? next("gov_payment", "receiptNumber", "RC"),
  }),
};

/** Fees by payment method: basis points of the amount, and a fixed part. Two methods have other fees in Japan. */
const FEES: Record<string, [number, number]> = {
  card: [150, 25],
  bank_transfer: [80, 0],
  mobile_money: [200, 0],
  "JP card": [360, 0],
  "JP bank_transfer": [0, 250],
};

function feeOf({ amount, method }: Fields, { country }: Home): number | null {
  if (typeof amount !== "number") return null;
  const [points, fixed] = FEES[`${country} ${method ?? "card"}`] ?? FEES[String(method ?? "card")] ?? [150, 25];
  return Math.min(Math.round((amount * points) / 10_000) + fixed, amount);
}

/** The mean of the scores, to one decimal. */
function meanOf(goals: { score: number | null }[]): number | null {
  const scores = goals.flatMap(({ score }) => score ?? []);
  return scores.length === 0
    ? null
    : Math.round((scores.reduce((total, score) => total + score, 0) / scores.length) * 10) / 10;
}

const ZONES: Record<string, string> = {
  PT: "Europe/Lisbon",
  CH: "Europe/Zurich",
  KE: "Africa/Nairobi",
  JP: "Asia/Tokyo",
};

/** The day in a country at a time in Unix seconds. */
const dayOf = (seconds: number, { country }: Home): string =>
  new Intl.DateTimeFormat("sv", { timeZone: ZONES[country ?? ""] ?? "UTC" }).format(seconds * 1_000);

const daysLater = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);
