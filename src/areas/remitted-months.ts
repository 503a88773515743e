// The months of remittances: which of them are remitted, and when their remittances are due.

import { addDays, addMonths, businessDayUntil } from "../kernel/calendar.ts";

/** Whether one of the remittances is of a scheme and month. Cancelled ones do not count. */
export const isRemitted = (
  remittances: readonly { scheme?: unknown; period?: unknown; status?: unknown }[],
  scheme: unknown,
  period: string,
) => remittances.some((one) => one.scheme === scheme && one.period === period && one.status !== "cancelled");

const DEFAULT_DUE_DAY = 15;

/** When the remittances of a month are due: on a business day by the due day of the month after it. */
export function dueDateOf(period: string, dueDay: unknown): string {
  const day = typeof dueDay === "number" ? dueDay : DEFAULT_DUE_DAY;
  return businessDayUntil(addDays(addMonths(`${period}-01`, 1), day - 1));
}
