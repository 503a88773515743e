// Rules that a merchant's records must meet together, such as those that an accountant would check.

import { nightsOf } from "../../src/areas/rooms.ts";
import type { AnyRecord, RecordsByKind } from "../../src/contracts/resource.ts";
import {
  addDays,
  addMonths,
  dayAt,
  dayNumber,
  nextBusinessDay,
  previousBusinessDay,
  timeOfDay,
} from "../../src/kernel/calendar.ts";
import { grouped } from "../../src/kernel/grouped.ts";

// biome-ignore lint/suspicious/noExplicitAny: the checks read records of every kind.
type Some = any;

interface Books {
  world: RecordsByKind;
  merchant: Some;
  /** Unix seconds. */
  now: number;
  of(kind: string): Some[];
}

type Line = (books: Books) => string[];

const isWorkday = (day: string) => ![0, 6].includes(new Date(day).getUTCDay());
const unlessWorkday = (day: string) => (isWorkday(day) ? day : previousBusinessDay(day));
const repeated = <T>(values: readonly T[]) =>
  values.filter((value, index) => value != null && values.indexOf(value) < index);
const dayIn = ({ merchant }: Books, seconds: number) => dayAt(merchant.country, seconds * 1_000);
const hourIn = (books: Books, seconds: number) => {
  const midnight = timeOfDay(books.merchant.country, dayIn(books, seconds), 0) ?? 0;
  return Math.floor((seconds * 1_000 - midnight) / 3_600_000);
};
const idsWhere = (records: readonly Some[], isAsked: (record: Some) => boolean): string[] =>
  records.filter(isAsked).map(({ id }) => id);
const standing = (status: string) => status !== "failed" && status !== "canceled";
const givenBackAt = ({ failedAt, canceledAt }: Some): number => failedAt ?? canceledAt ?? Number.POSITIVE_INFINITY;
const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/** The price of a stay under the pricing rules that were active when the stay was booked. */
function priceOf({ of }: Books, { created, checkIn, checkOut, roomTypeId, nightlyRate }: Some): number {
  const nights = dayNumber(checkOut) - dayNumber(checkIn);
  const rules = of("pricing_rule")
    .filter((rule) => rule.created <= created && (rule.status === "active" || rule.deactivatedAt > created))
    .filter((rule) => rule.roomTypeId === null || rule.roomTypeId === roomTypeId)
    .filter(({ minNights, maxNights }) => nights >= (minNights ?? 1) && nights <= (maxNights ?? nights))
    .sort((one, other) => other.priority - one.priority);
  let sum = 0;
  for (let night = checkIn; night < checkOut; night = addDays(night, 1)) {
    const weekday = WEEKDAYS[new Date(night).getUTCDay()];
    const rule = rules.find(
      ({ startDate, endDate, daysOfWeek }) =>
        (startDate ?? night) <= night &&
        (endDate ?? night) >= night &&
        (daysOfWeek === null || daysOfWeek.includes(weekday)),
    );
    const { adjustmentType, adjustmentValue = 0 } = rule ?? {};
    sum += Math.max(
      0,
      nightlyRate +
        (adjustmentType === "percentage" ? Math.round((nightlyRate * adjustmentValue) / 10_000) : adjustmentValue),
    );
  }
  return sum;
}

const paymentOf = ({ of }: Books, id: string | null) => of("payment").find((payment) => payment.id === id);

/** The statuses of stays that occupy a room. */
const HOLDING = ["confirmed", "checked_in", "checked_out"];

const SERIES = [
  ...(["reference", "receiptNumber"] as const).map((field) => ["gov_payment", field] as const),
  ...(["paymentReference", "receiptNumber"] as const).map((field) => ["remittance", field] as const),
  ...[["payment", "reference"] as const, ["marketplace_order", "number"] as const],
];

export const LINES: Readonly<Record<string, Line>> = {
  "a series of numbers has one format, without gaps or repeats": ({ of }) =>
    SERIES.flatMap(([kind, field]) => {
      const texts: string[] = of(kind).flatMap((record) => record[field] ?? []);
      const isWrong = ([prefix, all]: [string, string[]]) => {
        const numbers = all.map((text) => Number(text.slice(-4))).sort((one, other) => one - other);
        return !/^[A-Z]+-$/.test(prefix) || numbers.some((number, index) => number !== Number(numbers[0]) + index);
      };
      return [...grouped(texts, (text) => text.slice(0, -4))].filter(isWrong).map(([prefix]) => `${kind} ${prefix}`);
    }),
  "the period of a renewal lasts a month or a year": ({ of }) =>
    of("membership_renewal")
      .filter(
        ({ periodStart, periodEnd }) =>
          ![1, 12].some((months) => addDays(addMonths(periodStart, months), -1) === periodEnd),
      )
      .map(({ id, periodStart, periodEnd }) => `${id} ${periodStart} to ${periodEnd}`),
  "the periods of a membership do not overlap": ({ of }) => {
    const renewals = of("membership_renewal").filter(({ status }) => ["pending", "grace", "renewed"].includes(status));
    const isSame = (one: Some, other: Some) =>
      one.membershipId === other.membershipId ||
      (one.customerId !== null && one.customerId === other.customerId && one.plan === other.plan);
    return renewals
      .filter((one, index) =>
        renewals
          .slice(0, index)
          .some(
            (other) => isSame(one, other) && one.periodStart <= other.periodEnd && other.periodStart <= one.periodEnd,
          ),
      )
      .map(({ id, customerId, periodStart }) => `${id} of ${customerId} from ${periodStart}`);
  },
  "a remittance is due on the due day of the next month, or on the last business day before it": ({ of }) =>
    of("remittance")
      .filter(({ period, dueDate }) => {
        const day = of("statutory_settings")[0]?.remittanceDueDay ?? 15;
        return dueDate !== unlessWorkday(addDays(addMonths(`${period}-01`, 1), day - 1));
      })
      .map(({ id, period, dueDate }) => `${id} of ${period} due ${dueDate}`),
  "a scheme has one remittance for each payroll, or one for the month if it names no payroll": ({ of }) => {
    const paid = of("remittance").filter(({ status }) => status !== "cancelled");
    const isSame = (one: Some, other: Some) =>
      one.scheme === other.scheme && one.period === other.period && [other.payrollId, null].includes(one.payrollId);
    return paid.filter((one) => paid.some((other) => other !== one && isSame(one, other))).map(({ id }) => id);
  },
  "the regular pay of a period is not paid before the period begins": ({ of }) =>
    idsWhere(
      of("payroll"),
      ({ status, offCycle, payDate, periodStart }) => /paid/.test(status) && !offCycle && payDate < periodStart,
    ),
  "a remittance is not created after its due date": (books) =>
    books
      .of("remittance")
      .filter(({ created, dueDate }) => dayIn(books, created) > dueDate)
      .map(({ id, created, dueDate }) => `${id} ${dayIn(books, created)} due ${dueDate}`),
  "a pay date is a business day": ({ of }) =>
    of("payroll")
      .filter(({ payDate }) => !isWorkday(payDate))
      .map(({ id, payDate }) => `${id} ${payDate}`),
  "payrolls are submitted, and remittances and taxes are paid, on business days": (books) =>
    Object.entries({ payroll: "submittedAt", remittance: "paidAt", gov_payment: "paidAt" }).flatMap(([kind, field]) =>
      idsWhere(books.of(kind), (record) => record[field] !== null && !isWorkday(dayIn(books, record[field]))),
    ),
  "no payroll stays in processing for more than ten days": ({ of, now }) =>
    idsWhere(of("payroll"), ({ status, processingAt }) => status === "processing" && now - processingAt > 10 * 86_400),
  "a label with a first and a last month spans a calendar quarter or half-year": ({ of }) =>
    [...of("gov_payment").map(({ purpose }) => purpose), ...of("appraisal").map(({ cycle }) => cycle)].filter(
      (label) => {
        const [, first, last] = /(\d{4}-\d\d) to (\d{4}-\d\d)/.exec(label) ?? [];
        if (first === undefined || last === undefined) return false;
        const length =
          (Number(last.slice(0, 4)) - Number(first.slice(0, 4))) * 12 +
          Number(last.slice(5)) -
          Number(first.slice(5)) +
          1;
        return ![3, 6].includes(length) || (Number(first.slice(5)) - 1) % length !== 0;
      },
    ),
  "no employee gets regular pay twice for a period": ({ of }) =>
    repeated(
      of("payroll")
        .filter(({ status, offCycle }) => status !== "failed" && !offCycle)
        .flatMap(({ periodStart, items }) => items.map(({ employeeId }: Some) => `${employeeId} ${periodStart}`)),
    ),
  "an off-cycle payroll states its purpose": ({ of }) =>
    idsWhere(of("payroll"), ({ offCycle, metadata }) => offCycle && !metadata.purpose),
  "a confirmed remittance has a receipt number and a payment reference": ({ of }) =>
    idsWhere(
      of("remittance"),
      ({ status, receiptNumber, paymentReference }) => status === "confirmed" && (!receiptNumber || !paymentReference),
    ),
  "no month between two payrolls is skipped": ({ of }) => {
    const runs = of("payroll").filter(({ status, offCycle }) => status !== "failed" && !offCycle);
    const starts = [...new Set(runs.map(({ periodStart }) => periodStart))].sort();
    return starts.slice(1).filter((start) => !runs.some(({ periodEnd }) => addDays(periodEnd, 1) === start));
  },
  "a submitted payroll is paid by its pay date": (books) =>
    books
      .of("payroll")
      .filter(({ status, payDate }) => ["pending", "processing"].includes(status) && payDate < dayIn(books, books.now))
      .map(({ id, payDate }) => `${id} ${payDate}`),
  "a confirmed booking has a deposit payment": (books) =>
    idsWhere(
      books.of("booking"),
      ({ confirmedAt, status, paymentId, amount }) =>
        confirmedAt !== null && status !== "cancelled" && amount > 0 && !paymentOf(books, paymentId),
    ),
  "the payments of a finished stay add up to its amount": (books) =>
    idsWhere(books.of("booking"), ({ status, amount, paymentId, balancePaymentId }) => {
      const paid = [paymentId, balancePaymentId]
        .map((id) => paymentOf(books, id))
        .filter((payment) => payment !== undefined);
      return status === "checked_out" && paid.reduce((sum, payment) => sum + payment.amount, 0) !== amount;
    }),
  "a completed renewal has a payment of its amount": (books) =>
    idsWhere(
      books.of("membership_renewal"),
      ({ status, amount, paymentId }) =>
        status === "renewed" && amount > 0 && paymentOf(books, paymentId)?.amount !== amount,
    ),
  "a membership that renews automatically has no grace period": ({ of }) =>
    idsWhere(of("membership_renewal"), ({ autoRenew, graceAt }) => autoRenew && graceAt !== null),
  "a stay costs what the pricing rules say": (books) =>
    books
      .of("booking")
      .filter((booking) => booking.nightlyRate !== null && booking.amount !== priceOf(books, booking))
      .map(({ id, amount }) => `${id} ${amount}`),
  "a stay has no more guests than its room sleeps, and no room type is overbooked": ({ of, merchant }) =>
    (merchant.roomTypes ?? [{ id: "room_annex", rooms: 1, sleeps: 4 }]).flatMap(({ id, rooms, sleeps }: Some) => {
      const stays = of("booking").filter(({ roomTypeId, status }) => roomTypeId === id && HOLDING.includes(status));
      const nights = stays.flatMap(({ checkIn, checkOut }) => nightsOf(checkIn, checkOut));
      const tooMany = [...new Set(nights)].filter((night) => nights.filter((other) => other === night).length > rooms);
      return [
        ...tooMany.map((night) => `${id} ${night}`),
        ...stays.filter(({ guests }) => guests > sleeps).map((stay) => `${stay.id} for ${stay.guests}`),
      ];
    }),
  "a payment with a refund has a refund time": ({ of }) =>
    idsWhere(of("payment"), ({ refundedAmount, refundedAt }) => refundedAmount > 0 && refundedAt === null),
  "the payoutId of a payment names its newest payout that neither failed nor was canceled": ({ of }) =>
    idsWhere(of("payment"), ({ id, payoutId }) => {
      const holds = ({ status, payments }: Some) =>
        standing(status) && payments.some(({ paymentId }: Some) => paymentId === id);
      return payoutId !== (of("payout").findLast(holds)?.id ?? null);
    }),
  "a payout contains each payment that was not paid out before, and no payment twice": ({ of }) => {
    const payouts = of("payout").filter(({ payments }) => payments.length > 0);
    const shares = payouts.flatMap((payout) => payout.payments.map((share: Some) => ({ payout, ...share })));
    const sharesOf = grouped(shares, ({ paymentId }) => paymentId);
    return payouts.flatMap((payout) => {
      const isOpen = (other: Some) =>
        other === payout || (other.created <= payout.created && givenBackAt(other) > payout.created);
      const isWrong = ({ id, amount, fee, paidAt, refundedAt, refundedAmount, currency }: Some) => {
        const net = amount - fee - (refundedAt !== null && refundedAt < payout.created ? refundedAmount : 0);
        if (paidAt === null || paidAt >= payout.created || currency !== payout.currency || net === 0) return false;
        const held = (sharesOf.get(id) ?? []).filter((share) => share.amount > 0 === net > 0 && isOpen(share.payout));
        return held.length === 0 || (held.length > 1 && held.some((share) => share.payout === payout));
      };
      return of("payment")
        .filter(isWrong)
        .map(({ id }) => `${payout.id} ${id}`);
    });
  },
  "a payment is pending for at most an hour, or for five days if it is a bank transfer": ({ of, now }) =>
    idsWhere(
      of("payment"),
      ({ status, method, created }) =>
        status === "pending" && now - created > (method === "bank_transfer" ? 120 : 1) * 3_600,
    ),
  "a payout arrives within two business days, or one for mobile money": (books) =>
    books
      .of("payout")
      .filter(({ created, arrivalDate, payoutMethodId }) => {
        const next = nextBusinessDay(dayIn(books, created));
        const isMobile = books.of("payout_method").find(({ id }) => id === payoutMethodId)?.type === "mobile_money";
        return arrivalDate !== null && arrivalDate > (isMobile ? next : nextBusinessDay(next));
      })
      .map(({ id, created, arrivalDate }) => `${id} ${dayIn(books, created)} arrives ${arrivalDate}`),
  "a guest has at most one room for a night": ({ of }) => {
    const stays = of("booking").filter(({ customerId, status }) => customerId !== null && HOLDING.includes(status));
    const nights = stays.flatMap(({ customerId, checkIn, checkOut }) =>
      nightsOf(checkIn, checkOut).map((night) => `${customerId} ${night}`),
    );
    return repeated(nights);
  },
  "a booking is declined for lack of rooms only if all rooms are taken on one of its nights": ({ of, merchant }) =>
    idsWhere(of("booking"), ({ declineReason, declinedAt, roomTypeId, checkIn, checkOut }) => {
      if (!/full/.test(declineReason)) return false;
      const held = of("booking").filter(
        (stay) => stay.roomTypeId === roomTypeId && stay.confirmedAt !== null && stay.confirmedAt <= declinedAt,
      );
      const rooms = merchant.roomTypes.find(({ id }: Some) => id === roomTypeId)?.rooms;
      return !nightsOf(checkIn, checkOut).some(
        (night) => held.filter((stay) => stay.checkIn <= night && night < stay.checkOut).length >= rooms,
      );
    }),
  "a government payment, except an administrative fee, is made after its period and only once in 360 days": (books) => {
    const taxes = books
      .of("gov_payment")
      .filter(({ status, purpose }) => /pending|paid/.test(status) && purpose !== "Administrative fee");
    const isRepeated = ({ id, created, purpose }: Some) =>
      taxes.some(
        (other) => other.id !== id && other.purpose === purpose && Math.abs(other.created - created) < 360 * 86_400,
      );
    const isEarly = ({ created, purpose }: Some) =>
      dayIn(books, created).slice(0, 7) <= (/ to (\d{4}-\d\d)$/.exec(purpose)?.[1] ?? "");
    return taxes.filter((tax) => isRepeated(tax) || isEarly(tax)).map(({ id }) => id);
  },
  "names and products vary": ({ of }) => {
    const names = of("customer").map(({ name }) => name);
    const usual = names.filter((name) => names.filter((other) => other === name).length > 3 + names.length / 50);
    const sales = of("payment").filter(
      ({ metadata }) => metadata.bookingId === undefined && metadata.renewalId === undefined,
    );
    const sold = sales.slice(-100).map(({ description }) => description);
    return [
      ...new Set([
        ...usual,
        ...sales.map(({ description }) => description).filter((ware) => sold.length === 100 && !sold.includes(ware)),
      ]),
    ];
  },
  "payments, orders and synchronisations are made during opening hours": (books) =>
    idsWhere(
      [...books.of("payment"), ...books.of("marketplace_order"), ...books.of("sync_log")],
      ({ created }) => hourIn(books, created) < 7 || hourIn(books, created) > 22,
    ),
  "an amount in Kenyan shillings is at least 100 shillings": ({ of, merchant }) =>
    merchant.currency !== "KES"
      ? []
      : [...of("payment"), ...of("booking")]
          .filter(({ amount }) => amount !== null && amount < 10_000)
          .map(({ id }) => id),
  "a shipping address is in the country of the merchant": ({ of, merchant }) =>
    idsWhere(
      of("marketplace_order"),
      ({ shippingAddress }) => shippingAddress !== null && shippingAddress.country !== merchant.country,
    ),
  "a completed appraisal has scores": ({ of }) =>
    idsWhere(
      of("appraisal"),
      ({ status, finalScore, goals }) =>
        status === "completed" && (finalScore === null || goals.some(({ score }: Some) => score === null)),
    ),
  "a remittance names its agency": ({ of }) => idsWhere(of("remittance"), ({ agency }) => agency === null),
  "a booking or an order has the name of its customer": (books) =>
    idsWhere(
      [...books.of("booking"), ...books.of("marketplace_order")],
      ({ customerId, guestName, shippingAddress }) => {
        const customer = books.of("customer").find(({ id }) => id === customerId);
        return customer !== undefined && customer.name !== (guestName ?? shippingAddress?.name);
      },
    ),
};

/** The records that break a rule, each after the rule's text. `now` is in Unix seconds. */
export function askedOf(world: RecordsByKind, now: number): string[] {
  const of = (kind: string): Some[] => [...(world.get(kind) ?? [])] as AnyRecord[];
  const books: Books = { world, merchant: of("merchant")[0], now, of };
  return Object.entries(LINES).flatMap(([line, check]) => check(books).map((found) => `${line}: ${found}`));
}
