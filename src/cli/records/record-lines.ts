// Records as lines of text: one line each in a list, or one line for each field.

import type { Resource } from "../../contracts/resource.ts";
import { isoTime } from "../../kernel/clock.ts";
import { writeAmount } from "../../kernel/money.ts";
import { isAmount, isTimestamp } from "../../schema/shapes.ts";

type AnyFields = Readonly<Record<string, unknown>>;

/** The fields that name a record to a person, of which a line shows the first. */
const NAMING = [
  "guestName",
  "name",
  "number",
  "reference",
  "plan",
  "scheme",
  "sku",
  "employeeId",
  "integration",
  "accountName",
  "periodStart",
  "purpose",
];

/** Such as `pay_… succeeded 12.50 EUR INV-1042`. */
export function recordLine(record: AnyFields): string {
  const { id, status, amount, currency, totals } = record;
  const total = typeof amount === "number" ? amount : (totals as { netAmount?: unknown } | undefined)?.netAmount;
  const name = NAMING.map((field) => record[field]).find((value) => typeof value === "string");
  const money = typeof total === "number" ? writeAmount(total, currency as string | null) : undefined;
  return [id, status, money, name].filter((part) => part != null).join(" ");
}

/** Every field that has a value, one per line. */
export function fieldLines({ schema }: Resource, record: AnyFields): string[] {
  const fields = Object.entries(record).filter(([, value]) => value !== null);
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${valueText(schema.properties[name], value, record)}`);
}

function valueText(schema: object | undefined, value: unknown, { currency }: AnyFields): string {
  if (typeof value === "number" && schema && isAmount(schema)) return `${writeAmount(value, currency as string | null)}`;
  if (typeof value === "number" && schema && isTimestamp(schema)) return isoTime(value * 1000);
  return typeof value === "string" ? value : JSON.stringify(value);
}
