// Statutory: remittances to public schemes, and the settings for them.

import type { Arrival, OwnRecords, RecordBase, ShiftedDates, Warning } from "../contracts/resource.ts";
import { addDays, businessDayUntil, businessTimes, dayAt } from "../kernel/calendar.ts";
import { isUnchanged } from "../schema/as-sent.ts";
import { assumed } from "../schema/assumed.ts";
import {
  amount,
  basisPoints,
  count,
  country,
  currency,
  day,
  flag,
  id,
  metadata,
  month,
  nullable,
  nullables,
  oneOf,
  optionals,
  Type,
  text,
  timestamp,
} from "../schema/shapes.ts";
import type { OperationContext } from "../store/operation-context.ts";
import { assumedBody, endpoint } from "./declare/operation.ts";
import { resource } from "./declare/resource.ts";
import { sumOf } from "./declare/rules.ts";
import { merchantDay, merchants, onDay } from "./merchants.ts";
import { dueDateOf, isRemitted } from "./remitted-months.ts";
import { sampleRemittance, sampleStatutorySettings } from "./samples/office.ts";
import { earlyRemittances } from "./world-checks.ts";

const SCHEMES = ["income_tax", "pension", "social_security", "health_insurance", "housing_fund", "other"] as const;
const scheme = oneOf(SCHEMES, "Public scheme");

const receipt = {
  receiptNumber: text("Number of the agency's receipt"),
  confirmedDate: day("Date on the receipt"),
  note: text("Note about the confirmation"),
};

type Remittance = RecordBase & Record<"scheme" | "period" | "payrollId", string | null>;

/** Warns if another remittance covers the same scheme and month and, if this one is of a payroll, the same payroll. */
const remittedTwice: Warning<Remittance> = ({ id, scheme, period, payrollId, status }, { before, own }) => {
  if (status === "cancelled" || scheme === null || period === null) return undefined;
  if (before?.scheme === scheme && before.period === period && before.payrollId === payrollId) return undefined;
  const other = own(remittances)
    .all()
    .find(
      (one) =>
        one.id !== id && isRemitted([one], scheme, period) && (payrollId === null || one.payrollId === payrollId),
    );
  return other && `${other.id} remits ${scheme} of ${period} too.`;
};

export const remittances = resource({
  kind: "remittance",
  prefix: "rem",
  view: "remittances",
  sample: sampleRemittance,
  datesMoveBy: "months",
  fitDates,
  fields: nullables({
    scheme,
    payrollId: id("pyr", "Payroll run from which the remittance was made"),
    agency: text("Agency that receives the remittance"),
    period: month("Month that the remittance covers"),
    amount: amount("Total of the employees' and the employer's contributions", { minimum: 0 }),
    employeeAmount: amount("Employees' contribution", { minimum: 0 }),
    employerAmount: amount("Employer's contribution", { minimum: 0 }),
    currency: currency(),
    dueDate: day("Due date"),
    paidAt: timestamp("Time of payment"),
    paymentReference: text("Reference of the payment"),
    ...receipt,
    confirmedAt: timestamp("Time of confirmation"),
    overdueAt: timestamp("Time at which the remittance became overdue"),
    cancelledAt: timestamp("Time of cancellation"),
  }),
  states: {
    pending: {
      to: ["paid", "overdue", "confirmed", "cancelled"],
      event: "remittance.created",
      next: payOrMiss,
      sets: ({ record, own }) =>
        record.period === null
          ? {}
          : {
              amount: record.amount ?? totalOf(record),
              dueDate: record.dueDate ?? dueDateOf(record.period, own(statutorySettings).newest()?.remittanceDueDay),
              agency: record.agency ?? agencyOf(record.scheme, own),
            },
    },
    paid: {
      to: ["confirmed"],
      event: "remittance.paid",
      next: (paid) => (isAutomatic(paid) ? onDay(paid, paid.record.dueDate, "opening", "confirmed") : undefined),
      at: "paidAt",
    },
    overdue: { to: ["paid", "confirmed", "cancelled"], event: "remittance.overdue", at: "overdueAt" },
    confirmed: {
      to: [],
      event: "remittance.confirmed",
      // A confirmed remittance was paid, even if it was never marked as paid.
      at: ["paidAt", "confirmedAt"],
      sets: ({ record, now, own }) => ({
        confirmedDate: record.confirmedDate ?? merchantDay({ record, own }, record.confirmedAt ?? now),
      }),
    },
    cancelled: { to: [], event: "remittance.cancelled", at: "cancelledAt" },
  },
  series: [
    ...["paid", "confirmed"].map((at) => ({ field: "paymentReference", at, prefix: () => "REM" })),
    { field: "receiptNumber", at: "confirmed", prefix: () => "R" },
  ],
  updated: "remittance.updated",
  worldChecks: [earlyRemittances],
  rules: [sumOf("amount", "employeeAmount", "employerAmount")],
  warnings: [remittedTwice],
  references: { payrollId: "payroll" },
});

type Due = Pick<Arrival<RecordBase & { dueDate: string | null }>, "record" | "own">;

/** Automatic remittances are paid on their due date. Other remittances become overdue on the day after it. */
function payOrMiss(remittance: Due): { at: number; status: "paid" | "overdue" } | undefined {
  const { dueDate } = remittance.record;
  if (isAutomatic(remittance)) return onDay(remittance, dueDate, "opening", "paid");
  return onDay(remittance, dueDate && addDays(dueDate, 1), "midnight", "overdue");
}

function isAutomatic({ own }: Due): boolean {
  return own(statutorySettings).newest()?.autoRemit === true;
}

const totalOf = ({ employeeAmount, employerAmount }: Record<"employeeAmount" | "employerAmount", number | null>) =>
  employeeAmount === null || employerAmount === null ? null : employeeAmount + employerAmount;

/**
 * Corrects dates after seeding has moved them. A due date that the settings determine is computed again. Other due
 * dates, and the times of creation, payment and confirmation, move to a business day.
 */
function fitDates({ written, moved, settings }: ShiftedDates) {
  if (typeof moved.dueDate !== "string") return {};
  const dueOf = ({ period }: ShiftedDates["written"]) => dueDateOf(String(period), settings.remittanceDueDay);
  const dueDate = written.dueDate === dueOf(written) ? dueOf(moved) : businessDayUntil(moved.dueDate);
  const times = businessTimes(moved, ["created", "paidAt", "confirmedAt"]);
  return {
    dueDate,
    ...times,
    ...(times.confirmedAt !== undefined && { confirmedDate: dayAt(null, times.confirmedAt * 1_000) }),
  };
}

const AGENCIES = {
  income_tax: "Revenue Office",
  pension: "Pension Fund",
  social_security: "Social Security Office",
  health_insurance: "Health Insurance Fund",
  housing_fund: "Housing Fund",
  other: "Public Agency",
};

/** The agency of the scheme's latest remittance, or else a usual one. */
const agencyOf = (scheme: keyof typeof AGENCIES | null, own: OwnRecords): string =>
  own(remittances)
    .newestOf(50)
    .find((other) => other.scheme === scheme && other.agency !== null)?.agency ?? AGENCIES[scheme ?? "other"];

const settings = {
  country: country(),
  currency: currency(),
  payFrequency: oneOf(["weekly", "biweekly", "semimonthly", "monthly"], "How often employees are paid"),
  remittanceDueDay: count("Day of the following month on which remittances are due", { minimum: 1, maximum: 28 }),
};

const autoRemit = flag("Whether remittances are paid automatically");

const schemes = Type.Array(
  Type.Object({
    scheme,
    enabled: flag("Whether the scheme is enabled for the merchant"),
    registrationNumber: nullable(text("The merchant's registration number with the scheme")),
    employeeRateBps: basisPoints("Employees' contribution rate"),
    employerRateBps: basisPoints("Employer's contribution rate"),
  }),
  { description: "Schemes available to the merchant", maxItems: 100 },
);

export const statutorySettings = resource({
  kind: "statutory_settings",
  prefix: "sts",
  view: "statutory_settings",
  sample: sampleStatutorySettings,
  datesMoveBy: "months",
  fields: { ...nullables(settings), autoRemit, schemes, updated: nullable(timestamp("Time of the last change")) },
  defaults: { autoRemit: false, schemes: [] },
  updated: "statutory_settings.updated",
  onePerMerchant: true,
});

/** The id is constant, because every merchant has exactly one settings record. */
const SETTINGS = "sts_settings";

const confirmRemittance = endpoint({
  id: "remittances.confirm",
  position: 19,
  area: "Statutory",
  method: "POST",
  path: "/statutory/remittances/{id}/confirm",
  summary: "Confirm that a remittance arrived",
  description: "Possible while the remittance is pending, paid or overdue. The API has no operation that pays it.",
  body: assumedBody(optionals(receipt)),
  exampleParams: { id: "rem_overdue" },
  example: { receiptNumber: "R-0006", note: "Receipt filed with the papers of the month." },
  reply: remittances.schema,
  errors: ["resource_not_found", "invalid_state"],
  emits: [assumed("remittance.confirmed", "Derived from the name of the operation.")],
  handle({ params, body, extra, own }) {
    const remittance = own(remittances).require(params.id);
    // The caller copies a receipt, which may have no number, so no receipt number is generated.
    return own(remittances).move(remittance, "confirmed", {
      receiptNumber: remittance.receiptNumber,
      ...extra,
      ...body,
    });
  },
});

const updateStatutorySettings = endpoint({
  id: "statutory_settings.update",
  position: 21,
  area: "Statutory",
  method: "PATCH",
  path: "/statutory/settings",
  summary: "Update statutory settings",
  description:
    "Replaces the fields sent and keeps the others; null clears a field. No event is sent if nothing changes.",
  body: assumedBody(
    optionals({ ...settings, autoRemit, schemes, metadata: metadata() }),
    "The service's documentation does not show this body; null clears a field, as in RFC 7396.",
  ),
  example: { remittanceDueDay: 25, autoRemit: true },
  reply: statutorySettings.schema,
  errors: ["validation_failed"],
  emits: [assumed("statutory_settings.updated", "Derived from the name of the operation.")],
  handle(call) {
    const { body, extra, now, own } = call;
    const collection = own(statutorySettings);
    const before = collection.newest() ?? collection.create(initial(call));
    const changes: Record<string, unknown> = { ...extra, ...body };
    for (const field of Object.keys(changes)) if (changes[field] === null) changes[field] = cleared(field);
    return isUnchanged(before, changes) ? before : collection.update(before, { ...changes, updated: now });
  },
});

const getStatutorySettings = endpoint({
  id: "statutory_settings.get",
  position: 22,
  area: "Statutory",
  method: "GET",
  path: "/statutory/settings",
  summary: "Retrieve statutory settings",
  reply: statutorySettings.schema,
  handle: (call) => call.own(statutorySettings).newest() ?? call.own(statutorySettings).draft(initial(call)),
});

export const operations = [confirmRemittance, updateStatutorySettings, getStatutorySettings];

export const resources = [remittances, statutorySettings];

/** The initial settings of a merchant. */
function initial({ merchant, own }: Pick<OperationContext, "merchant" | "own">) {
  const { country, currency, created } = own(merchants).require(merchant);
  return { id: SETTINGS, country, currency, created };
}

/** The value of a field that was cleared with null: its default, or else null. Unknown fields are removed. */
function cleared(field: string): unknown {
  if (field === "metadata") return {};
  const known = Object.hasOwn(statutorySettings.schema.properties, field);
  return known ? (statutorySettings.defaults[field as keyof typeof statutorySettings.defaults] ?? null) : undefined;
}
