// Fuzzes snapshot files: each is rejected in one sentence or restored unchanged, and the sandbox still answers.

import { hash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import Sqlite from "better-sqlite3";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { catalogue } from "../../src/areas/index.ts";
import { type Change, changed, changeOf, oddValue, runs } from "../support/fuzzing.ts";
import { attempted, type Bench, NOON, share } from "../support/sandbox.ts";

const PAGE = 4_096;

/** A new value for one cell. The indexes of table, column and row are modulo the number of tables, columns and rows. */
interface CellChange {
  table: number;
  column: number;
  row: number;
  value: unknown;
}

/** Overwrites a page with another page of the same file. Positions are fractions of the file. */
interface Splice {
  from: number;
  to: number;
}

interface Mutation {
  cells: readonly CellChange[];
  splices: readonly Splice[];
  changes: readonly Change[];
}

const TOKENS = ["\0", "\xff", "{", '"', "null", "SQLite format 3\0", "sk_live_x", "\x02\x02", "'", "create trigger"];
const fraction = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });

const cell: fc.Arbitrary<CellChange> = fc.record({
  table: fc.nat({ max: 40 }),
  column: fc.nat({ max: 40 }),
  row: fc.nat({ max: 2_000 }),
  value: fc.oneof(
    oddValue.map((value) => (typeof value === "string" || typeof value === "number" ? value : JSON.stringify(value))),
    fc.constantFrom(null, -1, 2 ** 53, -(2 ** 62), 1e300, "", "{}", "[]", "evt_1", "req_1", Buffer.from([0, 255])),
  ),
});

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.record({
    cells: fc.array(cell, { minLength: 1, maxLength: 3 }),
    splices: fc.constant([]),
    changes: fc.constant([]),
  }),
  fc.record({
    cells: fc.constant([]),
    splices: fc.array(fc.record({ from: fraction, to: fraction }), { maxLength: 2 }),
    changes: fc.array(changeOf(TOKENS), { minLength: 1, maxLength: 4 }),
  }),
);

const tablesIn = (sql: Sqlite.Database) =>
  sql.prepare("select name from sqlite_master where type = 'table' order by name").pluck().all() as string[];

/**
 * The counters of ids stay unchanged, because a restore cannot detect that a counter was lowered. SECURITY.md says how
 * new ids continue.
 */
const NOT_CHECKED = "counters";
/**
 * Columns with due times stay unchanged, because a past time has an effect at the restore: a record goes to its next
 * state, or a stored reply is deleted.
 */
const DUE_COLUMNS = ["due", "expires"];

/**
 * Sets one cell of a table that has rows. If SQLite rejects the value, such as a text for a number, the cell keeps its
 * old value.
 */
function setCell(sql: Sqlite.Database, { table, column, row, value }: CellChange): void {
  const filled = tablesIn(sql).filter(
    (name) => name !== NOT_CHECKED && sql.prepare(`select 1 from ${name}`).get() !== undefined,
  );
  const name = filled[table % filled.length] as string;
  const columns = sql.prepare("select name, pk from pragma_table_info(?)").all(name) as { name: string; pk: number }[];
  const keys = columns.filter(({ pk }) => pk > 0).map((one) => one.name);
  const key = keys.length > 0 ? keys.join(", ") : "rowid";
  const changed = columns[column % columns.length]?.name;
  if (changed === undefined || DUE_COLUMNS.includes(changed)) return;
  const { count } = sql.prepare(`select count(*) as count from ${name}`).get() as { count: number };
  try {
    sql
      .prepare(`update ${name} set ${changed} = ? where (${key}) = (select ${key} from ${name} limit 1 offset ?)`)
      .run(typeof value === "number" && Number.isInteger(value) ? BigInt(value) : value, row % count);
  } catch (error) {
    if (!(error instanceof Sqlite.SqliteError || error instanceof RangeError)) throw error;
  }
}

function mutate(file: string, { cells, splices, changes }: Mutation): Buffer {
  const sql = new Sqlite(file);
  sql.pragma("foreign_keys = off");
  sql.pragma("ignore_check_constraints = on");
  for (const one of cells) setCell(sql, one);
  sql.close();
  const bytes = readFileSync(file);
  const pages = Math.floor(bytes.length / PAGE);
  const copy = Buffer.from(bytes);
  for (const { from, to } of splices)
    bytes.copy(
      copy,
      Math.floor(to * pages) * PAGE,
      Math.floor(from * pages) * PAGE,
      Math.floor(from * pages + 1) * PAGE,
    );
  return changed(copy, changes);
}

/** Tables that a restore does not replace, or that due deliveries change immediately. */
const MOVING = ["request_log", "request_numbers", "settings", "sqlite_sequence", "deliveries", "attempts"];

/** A hash of each table that a restore replaces, read from a snapshot. */
function contentOf(file: string): Record<string, string> {
  const sql = new Sqlite(file, { readonly: true });
  const tables = tablesIn(sql).filter((name) => !MOVING.includes(name));
  const content = tables.map((name) => [
    name,
    hash("sha256", JSON.stringify(sql.prepare(`select * from ${name}`).raw().all()), "hex"),
  ]);
  sql.close();
  return Object.fromEntries(content);
}

let bench: Bench;
let base: Buffer;
let file: string;
beforeAll(async () => {
  bench = await share({ rateLimit: "none" });
  await bench.call("POST", "/v1/webhooks", { body: { url: "http://localhost:9999/", events: ["*"] } });
  await bench.call("POST", "/v1/webhook-events/test", { body: { type: "payment.succeeded" } });
  await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { headers: { "idempotency-key": "once" } });
  await bench.control("POST", "/learners", { name: "Ada" });
  ({ file } = await bench.control("PUT", "/snapshots/mutated"));
  base = readFileSync(file);
});
afterAll(() => bench.close());

const stateNow = async () => contentOf((await bench.control("PUT", "/snapshots/now")).file);

/** Every GET operation without path parameters, and one call of each kind of write. */
const reads = catalogue
  .filter(({ method, path }) => method === "GET" && !path.includes("{"))
  .map(({ path }) => `/v1${path}`);
const writes: [path: string, body: unknown][] = [
  ["/v1/webhook-events/test", { type: "payment.succeeded" }],
  ["/v1/hospitality/pricing-rules", { name: "Weekend", adjustmentType: "fixed", adjustmentValue: 100 }],
  ["/_sandbox/clock/advance", { by: "3h" }],
  ["/_sandbox/records/customer", { merchant: "mer_lodge", name: "Ada" }],
];

async function expectAnswers(label: string): Promise<void> {
  for (const path of [
    ...reads,
    "/_sandbox",
    "/_sandbox/deliveries",
    "/_sandbox/learners",
    "/_sandbox/verdicts",
    "/_sandbox/report",
  ])
    expect((await bench.call("GET", path)).status, `${label}: ${path}`).toBeLessThan(500);
  for (const [path, body] of writes)
    expect((await bench.call("POST", path, { body })).status, `${label}: ${path}`).toBeLessThan(500);
  expect(
    bench.defects.splice(0).map(({ error, where }) => `${where}: ${(error as Error).stack}`),
    label,
  ).toEqual([]);
}

/** Two values of a webhook attempt that only the check of the rows rejects. Random changes rarely make such a file. */
const CORPUS: Mutation[] = [
  {
    cells: [
      { table: 0, column: 5, row: 0, value: "null" },
      { table: 0, column: 0, row: 0, value: "5s" },
    ],
    splices: [],
    changes: [],
  },
];

test("a changed snapshot is rejected in one sentence and has no effect, or becomes the new state", async () => {
  const seen = { restored: 0, refused: 0 };
  const property = fc.asyncProperty(mutation, async (drawn) => {
    attempted("Changed snapshots and database files");
    bench.defects.length = 0;
    writeFileSync(file, base);
    await bench.control("PUT", "/clock", { mode: "frozen", now: NOON });
    await bench.control("POST", "/snapshots/mutated/restore");
    const bytes = mutate(file, drawn);
    writeFileSync(file, bytes);
    const before = await stateNow();
    const { status, body } = await bench.call("POST", "/_sandbox/snapshots/mutated/restore", { key: null });
    const label = `${status} ${body.message}`;
    expect(
      [readFileSync(file).equals(bytes), ...["-wal", "-shm", "-journal"].map((suffix) => existsSync(file + suffix))],
      label,
    ).toEqual([true, ...[false, false, false]]);
    if (status === 200) expect(await stateNow()).toEqual(contentOf(file));
    else {
      expect([status, body.code, body.message], label).toEqual([
        400,
        "validation_failed",
        expect.stringMatching(/^[^\n]{20,600}\.$/),
      ]);
      expect(await stateNow()).toEqual(before);
    }
    seen[status === 200 ? "restored" : "refused"]++;
    await expectAnswers(label);
  });
  await fc.assert(property, runs(5, CORPUS));
  expect(Math.min(seen.restored, seen.refused)).toBeGreaterThan(1);
});
