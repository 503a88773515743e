// Consistency checks between a merchant's records. Each returns the records that contradict others.

import type { RecordsByKind, WorldViolation } from "../contracts/resource.ts";

const recordsOf = (world: RecordsByKind, kind: string) => world.get(kind) ?? [];

/** `paidOutAmount` of a payment must equal its shares in payouts that neither failed nor were canceled. */
export function unsettledPayments(world: RecordsByKind): WorldViolation[] {
  const contained = new Map<string, number>();
  for (const { status, payments } of recordsOf(world, "payout")) {
    if (status === "failed" || status === "canceled") continue;
    for (const { paymentId, amount } of payments as { paymentId: string; amount: number }[])
      contained.set(paymentId, (contained.get(paymentId) ?? 0) + amount);
  }
  return recordsOf(world, "payment").flatMap(({ id, paidOutAmount }) => {
    const sum = contained.get(id) ?? 0;
    return sum === paidOutAmount
      ? []
      : [{ kind: "payment", id, field: "paidOutAmount", message: `paidOutAmount is ${paidOutAmount}; its payouts contain ${sum}` }];
  });
}

/** The deposits of declined and cancelled bookings must be refunded. */
export function keptDeposits(world: RecordsByKind): WorldViolation[] {
  const paid = new Set(recordsOf(world, "payment").flatMap(({ id, status }) => (status === "succeeded" ? [id] : [])));
  return recordsOf(world, "booking")
    .filter(({ status, paymentId }) => (status === "declined" || status === "cancelled") && paid.has(String(paymentId)))
    .map(({ id, status, paymentId }) => ({
      kind: "booking",
      id,
      field: "paymentId",
      message: `is ${status}, and its deposit ${paymentId} is not refunded`,
    }));
}

/** Exactly one of the current payout methods must be the default. */
export function strayDefaults(world: RecordsByKind): WorldViolation[] {
  const current = recordsOf(world, "payout_method").filter(({ status }) => status !== "replaced");
  const defaults = current.filter(({ isDefault }) => isDefault);
  const [first] = current;
  if (!first || defaults.length === 1) return [];
  return [
    {
      kind: "payout_method",
      id: first.id,
      field: "isDefault",
      message: `${defaults.length} of ${current.length} payout methods are the default`,
    },
  ];
}

/** Remittances must belong to paid payroll runs. */
export function earlyRemittances(world: RecordsByKind): WorldViolation[] {
  const paid = new Set(recordsOf(world, "payroll").flatMap(({ id, status }) => (status === "paid" ? [id] : [])));
  return recordsOf(world, "remittance")
    .filter(({ payrollId }) => payrollId != null && !paid.has(String(payrollId)))
    .map(({ id, payrollId }) => ({
      kind: "remittance",
      id,
      field: "payrollId",
      message: `is of the payroll ${payrollId}, which is not paid`,
    }));
}

/** Payments must have the currency of their payout. Failed and canceled payouts do not count. */
export function mixedCurrencies(world: RecordsByKind): WorldViolation[] {
  const currencies = new Map(recordsOf(world, "payment").map(({ id, currency }) => [id, currency]));
  const standing = recordsOf(world, "payout").filter(({ status }) => status !== "failed" && status !== "canceled");
  return standing.flatMap(({ id, currency, payments }) =>
    (payments as { paymentId: string }[])
      .filter(({ paymentId }) => currencies.has(paymentId) && currencies.get(paymentId) !== currency)
      .map(({ paymentId }) => ({
        kind: "payout",
        id,
        field: "payments",
        message: `is in ${currency} and contains ${paymentId} in ${currencies.get(paymentId)}`,
      })),
  );
}
