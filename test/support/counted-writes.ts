// Writes tagged with a key that is stored on the record and its event, so that a test can count the effects.

import Sqlite from "better-sqlite3";
import { expect } from "vitest";
import type { Answer } from "./sandbox.ts";

/** A write that a client wants to take effect once. */
export interface Write {
  key: string;
  path: string;
  body: Record<string, unknown>;
  answer: Answer | undefined;
  /** How often the write was sent without receiving a response. */
  lost: number;
}

const effects: [path: string, body: (key: string) => Record<string, unknown>][] = [
  ["/v1/hospitality/pricing-rules", (name) => ({ name, adjustmentType: "fixed", adjustmentValue: 1 })],
  ["/v1/retail/products/prod_honey/variants", (sku) => ({ sku, options: { lot: sku }, price: 100 })],
  [
    "/v1/employees/payroll",
    () => ({
      periodStart: "2026-01-01",
      periodEnd: "2026-01-31",
      payDate: "2026-01-31",
      items: [{ employeeId: "emp", grossAmount: 1 }],
    }),
  ],
];

/** Composes a random write with this key. `pick` returns an integer below its first argument. */
export function compose(key: string, pick: (limit: number, ...name: string[]) => number): Write {
  const [path, body] = effects[pick(effects.length, "effect", key)] as (typeof effects)[number];
  return { key, path, body: { ...body(key), metadata: { key } }, answer: undefined, lost: 0 };
}

/** Opens a database read-only, after an integrity check. */
export function look<T>(file: string, work: (rows: <R>(text: string) => R[]) => T): T {
  const sql = new Sqlite(file, { readonly: true });
  expect(sql.pragma("integrity_check", { simple: true })).toBe("ok");
  const found = work(<R>(text: string) => sql.prepare(text).all() as R[]);
  sql.close();
  return found;
}

/** A query that counts the rows of a table by key. */
export const perKey = (table: string, path: string) =>
  `select body ->> '${path}' as key, count(*) as count from ${table} where key is not null group by key`;

export const counted = (counts: { key: string; count: number }[]) =>
  new Map(counts.map(({ key, count }) => [key, count]));

/** The numbers of records and of events, by key. */
export interface Made {
  records: ReadonlyMap<string, number>;
  events: ReadonlyMap<string, number>;
}

/**
 * Expects that each write with a response was accepted, and made one record and one event. A write without a response
 * made both or neither.
 */
export function expectEffects(writes: readonly Write[], { records, events }: Made): void {
  const wrong = writes.filter(({ key, answer }) => {
    const made = `${records.get(key) ?? 0} ${events.get(key) ?? 0}`;
    return answer ? answer.status !== 200 || made !== "1 1" : made !== "0 0" && made !== "1 1";
  });
  expect(wrong.map(({ key, answer }) => [key, answer?.text, records.get(key), events.get(key)])).toEqual([]);
  expect(records.size).toBe(events.size);
  const ids = writes.flatMap(({ answer }) => (answer ? [answer.body.id] : []));
  expect(new Set(ids).size).toBe(ids.length);
}
