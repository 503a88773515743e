// Predicts time-driven changes without src/: the records that change during a span of time, and when.

import type { Answer } from "./sandbox.ts";

type Entry = Answer["body"];

export interface ExpectedChange {
  at: string;
  merchant: string;
  kind: string;
  id: string;
  from: string;
  to: string;
}

/** A merchant at the start of the span, with its records by kind. */
export interface ModelledMerchant {
  id: string;
  /** Hours east of UTC during the whole span. */
  offset: number;
  records: Record<string, Entry[]>;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The day of the week; 0 is Sunday. */
const weekdayOf = (time: number) => new Date(time).getUTCDay();

/** The next state of a record, and the local time at which it is reached, written as if it were UTC. */
function nextOf(
  kind: string,
  record: Entry,
  { offset, records }: ModelledMerchant,
): [to: string, local: number] | undefined {
  const at = (day: string | null, hour: number): number =>
    day === null ? Number.NaN : new Date(`${day}T00:00:00Z`).getTime() + hour * HOUR;
  const created = record.created * 1000 + offset * HOUR;
  const automatic = records.statutory_settings?.[0]?.autoRemit === true;
  switch (`${kind} ${record.status}`) {
    case "payout pending": {
      let earliest = Math.floor(created / DAY) * DAY + DAY;
      while ([0, 6].includes(weekdayOf(earliest))) earliest += DAY;
      let latest = at(record.arrivalDate, -24);
      while ([0, 6].includes(weekdayOf(latest))) latest -= DAY;
      return ["in_transit", (latest > earliest ? latest : earliest) + 8 * HOUR];
    }
    case "payout in_transit":
      return ["paid", at(record.arrivalDate, 9)];
    case "payout_method pending_verification":
      return ["verified", created + 60_000];
    case "payroll pending":
      return ["processing", at(record.payDate, 8)];
    case "payroll processing":
      return ["paid", at(record.payDate, 9)];
    case "remittance pending":
      return automatic ? ["paid", at(record.dueDate, 9)] : ["overdue", at(record.dueDate, 24)];
    case "remittance paid":
      return automatic ? ["confirmed", at(record.dueDate, 9)] : undefined;
    case "membership_renewal pending":
      return [record.autoRenew ? "renewed" : "grace", at(record.dueDate, 9)];
    case "membership_renewal grace":
      return ["lapsed", record.graceUntil === null ? at(record.dueDate, 15 * 24) : at(record.graceUntil, 24)];
    case "marketplace_order shipped":
      return ["delivered", at(record.expectedDelivery, 9)];
    case "booking pending":
      return ["cancelled", at(record.checkIn, 24)];
    case "booking confirmed":
      return ["checked_in", at(record.checkIn, 15)];
    case "booking checked_in":
      return ["checked_out", at(record.checkOut, 11)];
    case "sync_log running":
      return ["succeeded", (record.startedAt ?? record.created) * 1000 + offset * HOUR + 120_000];
    default:
      return undefined;
  }
}

/** The changes of the records after `start`, until `end`, in order of time. A date before the start is ignored. */
export function expectedChanges(merchants: readonly ModelledMerchant[], start: number, end: number): ExpectedChange[] {
  const changes: ExpectedChange[] = [];
  for (const merchant of merchants)
    for (const [kind, records] of Object.entries(merchant.records))
      for (const given of records) {
        const record = { ...given };
        let earliest = start + 1;
        for (let next = nextOf(kind, record, merchant); next !== undefined; next = nextOf(kind, record, merchant)) {
          const [to, local] = next;
          const due = local - merchant.offset * HOUR;
          const at = earliest > start + 1 ? Math.max(due, earliest) : due;
          if (!(at >= earliest && at <= end)) break;
          changes.push({
            at: new Date(at).toISOString(),
            merchant: merchant.id,
            kind,
            id: record.id,
            from: record.status,
            to,
          });
          record.status = to;
          earliest = at;
        }
      }
  return changes.sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
}
