// The months that remittances cover: whether a month is remitted, and when its remittances are due.

import { addDays, addMonths, businessDayUntil } from "../kernel/calendar.ts";

/** Whether a remittance covers this scheme and month. Cancelled remittances do not count. */
export const isRemitted = (
  remittances: readonly { scheme?: unknown; period?: unknown; status?: unknown }[],
  scheme: unknown,
  period: string,
) => remittances.some((one) => one.scheme === scheme && one.period === period && one.status !== "cancelled");

const DEFAULT_DUE_DAY = 15;

/** The due date of a month's remittances: the due day of the next month, or the business day before a weekend. */
export function dueDateOf(period: string, dueDay: unknown): string {
  const day = typeof dueDay === "number" ? dueDay : DEFAULT_DUE_DAY;
  return businessDayUntil(addDays(addMonths(`${period}-01`, 1), day - 1));
}
