// Consistency checks between a merchant's records. Each returns the records that contradict others.

import type { AnyRecord, RecordsByKind, WorldViolation } from "../contracts/resource.ts";

const violation = (kind: string, { id }: AnyRecord, field: string, message: string): WorldViolation => ({
  kind,
  id,
  field,
  message,
});

const recordsOf = (world: RecordsByKind, kind: string) => world.get(kind) ?? [];

/** `paidOutAmount` of a payment must equal its shares in payouts that neither failed nor were canceled. */
export function unsettledPayments(world: RecordsByKind): WorldViolation[] {
  const contained = new Map<string, number>();
  for (const { status, payments } of recordsOf(world, "payout")) {
    if (status === "failed" || status === "canceled") continue;
    for (const { paymentId, amount } of payments as { paymentId: string; amount: number }[])
      contained.set(paymentId, (contained.get(paymentId) ?? 0) + amount);
  }
  return recordsOf(world, "payment").flatMap((payment) => {
    const [sum, { paidOutAmount }] = [contained.get(payment.id) ?? 0, payment];
    const message = `paidOutAmount is ${paidOutAmount}; its payouts contain ${sum}`;
    return sum === paidOutAmount ? [] : [violation("payment", payment, "paidOutAmount", message)];
  });
}

/** The deposits of declined and cancelled bookings must be refunded. */
export function keptDeposits(world: RecordsByKind): WorldViolation[] {
  const paid = new Set(recordsOf(world, "payment").flatMap(({ id, status }) => (status === "succeeded" ? [id] : [])));
  return recordsOf(world, "booking")
    .filter(({ status, paymentId }) => (status === "declined" || status === "cancelled") && paid.has(String(paymentId)))
    .map((stay) =>
      violation("booking", stay, "paymentId", `is ${stay.status}, and its deposit ${stay.paymentId} is not refunded`),
    );
}

/** Exactly one of the current payout methods must be the default. */
export function strayDefaults(world: RecordsByKind): WorldViolation[] {
  const current = recordsOf(world, "payout_method").filter(({ status }) => status !== "replaced");
  const defaults = current.filter(({ isDefault }) => isDefault);
  const [first] = current;
  if (!first || defaults.length === 1) return [];
  return [
    violation(
      "payout_method",
      first,
      "isDefault",
      `${defaults.length} of ${current.length} payout methods are the default`,
    ),
  ];
}

/** Remittances must belong to paid payroll runs. */
export function earlyRemittances(world: RecordsByKind): WorldViolation[] {
  const paid = new Set(recordsOf(world, "payroll").flatMap(({ id, status }) => (status === "paid" ? [id] : [])));
  return recordsOf(world, "remittance")
    .filter(({ payrollId }) => payrollId != null && !paid.has(String(payrollId)))
    .map((remittance) =>
      violation("remittance", remittance, "payrollId", `is of the payroll ${remittance.payrollId}, which is not paid`),
    );
}

/** Payments must have the currency of their payout. Failed and canceled payouts do not count. */
export function mixedCurrencies(world: RecordsByKind): WorldViolation[] {
  const currencies = new Map(recordsOf(world, "payment").map(({ id, currency }) => [id, currency]));
  const counting = recordsOf(world, "payout").filter(({ status }) => status !== "failed" && status !== "canceled");
  return counting.flatMap((payout) =>
    (payout.payments as { paymentId: string }[])
      .map(({ paymentId }) => ({ paymentId, currency: currencies.get(paymentId) }))
      .filter(({ currency }) => currency !== undefined && currency !== payout.currency)
      .map(({ paymentId, currency }) =>
        violation("payout", payout, "payments", `is in ${payout.currency} and contains ${paymentId} in ${currency}`),
      ),
  );
}
