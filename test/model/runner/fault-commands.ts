// Arbitraries for fault rules: matches, triggers and actions.

import fc from "fast-check";
import { operations } from "../operations.ts";
import type { Fields } from "../record-kinds.ts";

export interface Action extends Fields {
  type: string;
}

export interface FaultMatch {
  operation?: string[];
  merchant?: number;
  event?: string[];
}

export interface FaultCommand {
  type: "fault";
  match: FaultMatch;
  trigger: { times: number; skip?: number; every?: number; for?: string };
  action: Action;
}

const rarely = <T>(arbitrary: fc.Arbitrary<T>, freq: number) => fc.option(arbitrary, { freq, nil: undefined });

/** Operations whose response may be lost: reads, and writes whose record can be read from their event. */
const LOSABLE = [
  ...[
    "pricing_rules.create",
    "payroll.create",
    "payout_method.set",
    "variants.create",
    "gov_payments.post",
    "bookings.decline",
  ],
  ...["remittances.confirm", "payroll.override_item", "statutory_settings.update", "payments.list", "merchants.me"],
];
const ANY_OPERATION = operations.map(({ id }) => id);
const some = (names: readonly string[]) => fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 12 });

const trigger = fc
  .record({
    times: fc.integer({ min: 1, max: 4 }),
    skip: rarely(fc.integer({ min: 1, max: 2 }), 3),
    every: rarely(fc.integer({ min: 2, max: 3 }), 3),
    for: rarely(fc.constantFrom("5s", "1m"), 3),
  })
  .map(({ times, ...more }) => ({
    times,
    ...Object.fromEntries(Object.entries(more).filter(([, value]) => value !== undefined)),
  }));

const actions = (...all: Action[]) => fc.constantFrom(...all);

const onAnyCall = actions(
  { type: "rate_limit" },
  { type: "rate_limit", retryAfter: 7 },
  { type: "rate_limit", exhaust: true },
  { type: "rate_limit", exhaust: true, retryAfter: 3 },
  { type: "status", status: 500 },
  { type: "status", status: 503, retryAfter: 2 },
  { type: "status", status: 409, code: "invalid_state" },
  { type: "connection", as: "reset" },
  { type: "connection", as: "empty" },
  { type: "latency", ms: 3 },
  { type: "auth", as: "revoked" },
  { type: "auth", as: "expired" },
  { type: "idempotency", as: "in_progress" },
  { type: "idempotency", as: "expired" },
);
const onOutages = actions({ type: "outage" }, { type: "outage", retryAfter: 30 }, { type: "outage", as: "reset" });
const onAnswers = actions(
  { type: "lost_response", as: "reset" },
  { type: "lost_response", as: "empty" },
  { type: "lost_response", as: "502" },
  { type: "body", as: "truncate" },
  { type: "body", as: "invalid_json" },
  { type: "body", as: "html" },
);
const onDeliveries = actions(
  { type: "drop", attempts: 1 },
  { type: "drop", attempts: 2 },
  { type: "drop", attempts: "all" },
  { type: "delay", by: "5s" },
  { type: "duplicate", copies: 2 },
  { type: "duplicate", copies: 3 },
  { type: "signature", as: "missing" },
  { type: "signature", as: "wrong_secret" },
  { type: "payload", as: "extra_field" },
);

const ofMerchant = rarely(fc.nat({ max: 2 }), 3);
const matching = (names: fc.Arbitrary<string[] | undefined>, field: "operation" | "event") =>
  fc.tuple(names, ofMerchant).map(
    ([list, merchant]): FaultMatch => ({
      ...(list ? { [field]: list } : {}),
      ...(merchant === undefined ? {} : { merchant }),
    }),
  );
const fault = (match: fc.Arbitrary<FaultMatch>, action: fc.Arbitrary<Action>): fc.Arbitrary<FaultCommand> =>
  fc.record({ type: fc.constant("fault" as const), match, trigger, action });

const EVENTS = ["payment.succeeded", "pricing_rule.created", "booking.declined", "payroll.created"];

export const faults: fc.Arbitrary<FaultCommand> = fc.oneof(
  { weight: 3, arbitrary: fault(matching(rarely(some(ANY_OPERATION), 1), "operation"), onAnyCall) },
  { weight: 1, arbitrary: fault(fc.constant({}), onOutages) },
  { weight: 3, arbitrary: fault(matching(some(LOSABLE), "operation"), onAnswers) },
  { weight: 3, arbitrary: fault(matching(rarely(some(EVENTS), 2), "event"), onDeliveries) },
);
