// Checks that two things do not grow with the database: the rows that a statement reads, and the size of the event and
// delivery logs. test/store/query-plans.test.ts names the index of each statement.

import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { eventTypes, resources } from "../../src/areas/index.ts";
import { createSandbox } from "../../src/index.ts";
import { createClock, parseTime } from "../../src/kernel/clock.ts";
import { ALPHABET, createRandom, sortKeyOf } from "../../src/kernel/random.ts";
import { openStores, type Stores } from "../../src/store/stores.ts";
import { openFixtureCopies } from "../../src/store/world/fixture-copies.ts";
import { openSeeder } from "../../src/store/world/seed.ts";
import { openSnapshots } from "../../src/store/world/snapshots.ts";
import { openWorld } from "../../src/store/world/world.ts";
import { planChecks, type VerificationSources } from "../../src/verify/plan-checks.ts";
import { folder } from "../support/program.ts";
import { attempted, type Bench, call, NOON, NOON_SECONDS, open, share } from "../support/sandbox.ts";
import { advance, receive, register, trigger } from "../support/webhooks.ts";

const PENDING = "Reads an index that holds only pending rows.";
const LOG =
  "Scans a bounded log for a caller that needs all of it, such as a report, an expectation, an overview " +
  "or the first read after a start.";
const FEW =
  "Sorts the few rows that the search found: those of one merchant, one request or one event, " +
  "or those since the last read.";
const PAGE = "Reads a bounded log from its newest row until a page is full.";

/** Statements that may scan or sort: a pattern of the text, the allowed plan, and the reason. */
const ALLOWED: { text: RegExp; plan: RegExp; why: string }[] = [
  {
    text: /from events e where instr\(e\.body, @quoted\)/,
    plan: /SCAN e/,
    why: "Runs when the timeline of a record is opened, over a bounded log.",
  },
  {
    text: /^select m\.merchant from documents m cross join documents d/,
    plan: /TEMP B-TREE FOR ORDER BY/,
    why: "Sorts the merchants that have the record whose timeline is opened.",
  },
  {
    text: /^select merchant, endpoint, min\(due\) as due from deliveries where state = 'pending'/,
    plan: /SCAN .*deliveries_open/,
    why: PENDING,
  },
  {
    text: /^select merchant, kind, id, due from documents where merchant = \? and due <= \?/,
    plan: /TEMP B-TREE FOR ORDER BY/,
    why: "Runs while a merchant is seeded, over its own records that are due.",
  },
  { text: /^update documents set due = @due/, plan: /SCAN json_each/, why: "Reads the list of kinds in a setting." },
  {
    text: /^delete from replies where exists/,
    plan: /SCAN replies/,
    why: "Runs when a merchant with sessions is reset or removed.",
  },
  { text: /^select count\(\*\) from deliveries where state = 'pending'/, plan: /SCAN .*deliveries_open/, why: PENDING },
  {
    text: /^update deliveries set due = \? where state = 'pending' and due is null/,
    plan: /SCAN .*deliveries_open/,
    why: PENDING,
  },
  {
    text: /^select count\(\*\) from deliveries where failed = 1/,
    plan: /SCAN .*COVERING INDEX/,
    why: "Counts a part of a bounded log.",
  },
  {
    text: /^update deliveries set state = 'pending', due = null, held = null/,
    plan: /SCAN .*deliveries_open/,
    why: PENDING,
  },
  {
    text: /^select distinct value ->> '\$\.effect\.kind' from deliveries/,
    plan: /SCAN (.*deliveries_open|json_each)|TEMP B-TREE/,
    why: PENDING,
  },
  {
    text: /^select merchant, id as endpoint, body ->> 'url'/,
    plan: /TEMP B-TREE FOR ORDER BY/,
    why: "Lists every endpoint of a foreign file at its start.",
  },
  {
    text: /where d\.sequence in \(select sequence from deliveries indexed by/,
    plan: /SCAN .*deliveries_open/,
    why: PENDING,
  },
  { text: /^select d\.sequence, d\.merchant, e\.id as event/, plan: /SCAN d/, why: LOG },
  { text: /^select type, sum\(emitted\)/, plan: /SCAN (events|d|deleted_event_counts)|TEMP B-TREE/, why: LOG },
  { text: /^select status, count\(\*\) as calls from request_log/, plan: /SCAN request_log|TEMP B-TREE/, why: LOG },
  {
    text: /^select operation, status, count\(\*\) as calls from request_log/,
    plan: /SCAN request_log|TEMP B-TREE/,
    why: LOG,
  },
  { text: /^select distinct fault from request_log/, plan: /SCAN request_log|TEMP B-TREE/, why: LOG },
  {
    text: /^select distinct json_extract\(effect.* from attempts/,
    plan: /SCAN (attempts|effect)|TEMP B-TREE/,
    why: LOG,
  },
  {
    text: /^select merchant, count\(\*\) as rows from (request_log|attempts) group/,
    plan: /SCAN .*COVERING INDEX/,
    why: LOG,
  },
  { text: /^select sequence from request_log where id = \?/, plan: /SCAN .*COVERING INDEX/, why: LOG },
  { text: /^select \(select count\(\*\) from request_log\) as requests/, plan: /SCAN .*COVERING INDEX/, why: LOG },
  {
    text: /^select sequence \/ 128 as block, .* from request_log group/,
    plan: /SCAN request_log|TEMP B-TREE/,
    why: LOG,
  },
  {
    text: /^select a\.\*, .* order by a\.sequence/,
    plan: /SCAN a$|TEMP B-TREE FOR (LAST TERM OF )?ORDER BY/,
    why: PAGE,
  },
  { text: /^select a\.\*, .* where e\.id = @eventId\)/, plan: /TEMP B-TREE FOR ORDER BY/, why: FEW },
  {
    text: /^select id, body ->> 'name' as name/,
    plan: /TEMP B-TREE FOR ORDER BY/,
    why: "Lists every merchant, a row each.",
  },
  {
    text: /^select merchant, endpoint, min\(due\) as due, max\(sequence\)/,
    plan: /TEMP B-TREE FOR GROUP BY/,
    why: FEW,
  },
  { text: /^select id as endpoint, body ->> 'secret'/, plan: /TEMP B-TREE FOR ORDER BY/, why: FEW },
  { text: /d\.attempts = 0 and e\.request = \?/, plan: /TEMP B-TREE FOR ORDER BY/, why: FEW },
  {
    text: /^select merchant, name, lesson, .* order by sequence/,
    plan: /SCAN learners/,
    why: "Lists every learner, a row each.",
  },
  { text: /^select lesson, step, .* from finished_steps/, plan: /TEMP B-TREE FOR ORDER BY/, why: FEW },
];

/** Plans without a scan: a constant, or rows of a subquery that uses an index. */
const HARMLESS = /SCAN CONSTANT ROW|SCAN \(?(subquery|SUBQUERY)/;

/** Every module that prepares statements, on an empty in-memory database. */
function everyStore(): Stores {
  const clock = createClock(parseTime(NOON));
  const random = createRandom(1);
  const stores = openStores({
    clock,
    random,
    webhooks: { gaps: [0], writeEvent: JSON.stringify, checkTarget: () => {}, eventTypes },
  });
  const image = () => ({ bytes: Buffer.alloc(0) });
  openWorld({
    stores,
    copies: openFixtureCopies({ stores, resources, clock, random, open: () => stores }),
    fixtures: () => [],
    image,
    random,
    dataReplaced: () => {},
    removed: () => {},
  });
  openSeeder(stores, resources, clock);
  const build = () => Promise.resolve({ wrong: "" });
  openSnapshots({ ...stores, build, trust: false, dataReplaced: () => {} });
  return stores;
}

/** Asks for a page with every combination of filters, because the statement of a page depends on its filters. */
function askForEveryPage({ attempts }: Stores): void {
  const filters = { id: "whd_0001", endpointId: "we_1", status: "failed", type: "payment.succeeded", eventId: "evt_1" };
  const names = Object.keys(filters) as (keyof typeof filters)[];
  for (let chosen = 0; chosen < 2 ** names.length; chosen++) {
    const query = Object.fromEntries(
      names.filter((_, place) => chosen & (2 ** place)).map((name) => [name, filters[name]]),
    );
    for (const merchant of [undefined, "mer_lodge"]) attempts.page(merchant, query);
  }
}

function planOf(sql: Sqlite.Database, text: string): string[] {
  const names = [...text.matchAll(/[@:]([a-z]\w*)/gi)].map(([, name]) => [name, 1]);
  const values = names.length > 0 ? [Object.fromEntries(names)] : [...text.matchAll(/\?/g)].map(() => 1);
  const rows = sql.prepare<unknown[], { detail: string }>(`explain query plan ${text}`).all(...values);
  return rows.map(({ detail }) => detail);
}

/** The number of events of a long run, each with a delivery and an attempt. The first deliveries are pending. */
const LOGGED = 12_000;
const PENDING_ROWS = 50;

/** A SQL expression for the text that `sortKeyOf` makes from a count. */
const sqlSortKey = (count: string) =>
  [3, 2, 1, 0]
    .map((digit) => `substr('${ALPHABET}', ${count} / ${ALPHABET.length ** digit} % ${ALPHABET.length} + 1, 1)`)
    .join(" || ");

/**
 * Inserts rows into every growing table, at successive times. The rows must be valid, because the next start checks
 * them.
 */
function fill(sql: Sqlite.Database, rows: number): void {
  sql.exec(`
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows})
      insert into events (id, merchant, type, created, origin, request, body)
      select 'evt_' || ${sqlSortKey("i")}, 'mer_lodge', 'payment.succeeded',
        ${NOON_SECONDS * 1000} + i, 'event', null, '{}' from n;
    insert into deliveries (merchant, endpoint, event, trigger, state, attempts, allowed, due, created)
      select merchant, 'we_old', sequence, 'event', iif(sequence <= ${PENDING_ROWS}, 'pending', 'succeeded'), 1, 6,
        iif(sequence <= ${PENDING_ROWS}, ${NOON_SECONDS * 1000} + 9e9, null), created from events;
    insert into attempts (id, merchant, endpoint, delivery, trigger, attempt, allowed, status, url,
        requestHeaders, started, ended)
      select 'whd_' || ${sqlSortKey("sequence")}, merchant, endpoint, sequence, 'event', 1, 6,
        iif(state = 'pending', 'failed', 'succeeded'), 'http://localhost:9/', '{}', created, created from deliveries;
    insert into documents (merchant, kind, id, created, status, body)
      select merchant, 'payment', 'pay_grown' || sequence, sequence, 'succeeded',
        json_set((select body from documents where kind = 'payment' and status = 'succeeded' limit 1),
          '$.id', 'pay_grown' || sequence)
        from events;
    insert into replies (merchant, key, fingerprint, request, status, body, expires)
      select merchant, 'key' || sequence, '', 'req_1', 200, '{}', created + 9e9 from events;
    insert into request_log (sequence, id, at, method, path, query, status, duration, stages, requestHeaders,
        requestBody, requestBytes, responseHeaders, responseBody, responseBytes)
      select sequence, 'req_' || sequence, created, 'GET', '/v1/payments', '', 200, 1, '1000', '{}', '', 0, '{}', '', 0
        from events;`);
}

/** A sandbox on a file with the data of a long run. */
async function openFilled(rows = LOGGED, more = ""): Promise<Bench & { file: string }> {
  const db = join(folder(), "filled.db");
  await (await share({ memory: false, db })).close();
  const sql = new Sqlite(db);
  fill(sql, rows);
  sql.exec(more);
  sql.close();
  return Object.assign(await open({ memory: false, db }), { file: db });
}

function countRows(file: string): Record<string, number> {
  const sql = new Sqlite(file, { readonly: true });
  const count = (table: string) => sql.prepare(`select count(*) from ${table}`).pluck().get() as number;
  const rows = { events: count("events"), deliveries: count("deliveries"), attempts: count("attempts") };
  sql.close();
  return rows;
}

test("no statement scans or sorts a growing table unless ALLOWED lists a reason", async () => {
  const stores = everyStore();
  askForEveryPage(stores);
  // The statements of the request log are prepared at its first write or pruning.
  stores.requestLog.forget();
  const texts = [...stores.database.sql.statements].map((text) => text.replace(/\s+/g, " ").trim());
  stores.close();
  expect(texts.length).toBeGreaterThan(100);
  const { file } = await openFilled(PENDING_ROWS);
  const sql = new Sqlite(file, { readonly: true });
  const used = new Set<RegExp>();
  const wrong: string[] = [];
  for (const text of texts.filter((one) => !/^(begin|commit|rollback|vacuum|attach)/.test(one))) {
    for (const step of planOf(sql, text)) {
      if (!/SCAN|TEMP B-TREE/.test(step) || HARMLESS.test(step)) continue;
      const allowed = ALLOWED.find((one) => one.text.test(text) && one.plan.test(step));
      if (allowed) used.add(allowed.text);
      else wrong.push(`${step} in: ${text}`);
    }
  }
  sql.close();
  expect(wrong).toEqual([]);
  expect(ALLOWED.filter(({ text }) => !used.has(text)).map(({ text }) => text.source)).toEqual([]);
});

/** Counts the rows that a function reads from these tables, by replacing each table by a view that counts its rows. */
function countReads({ sql }: Stores["database"], ...tables: string[]): (read: () => unknown) => number {
  let looked = 0;
  sql.function("looked_at", { deterministic: false }, () => ++looked);
  for (const table of tables) sql.exec(`create temp view ${table} as select * from main.${table} where looked_at()`);
  return (read) => {
    looked = 0;
    read();
    return looked;
  };
}

test("looking up a merchant reads the same number of rows among a thousand merchants and among ten", () => {
  const rowsAmong = (merchants: number) => {
    const { database, tenants, close } = everyStore();
    database.sql.exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${merchants})
        insert into documents (merchant, kind, id, created, status, body)
          select 'mer_' || i, 'merchant', 'mer_' || i, 1, 'active', json_object('id', 'mer_' || i) from n;
      insert into keys (key, merchant, kind) select 'sk_test_' || merchant, merchant, 'key' from documents;
      insert into seeded_merchants (merchant, fixture, key, email)
        select merchant, 'blank', '', '' from documents order by sequence;`);
    const found: unknown[] = [];
    const looked = countReads(
      database,
      "documents",
      "keys",
      "seeded_merchants",
    )(() => {
      found.push(tenants.first(), tenants.require("mer_9"), tenants.keyOf("mer_9"));
      // After each request of a learner, this part of the step's check runs.
      const expected = [{ requests: { match: { operation: "payments.list" } } }];
      planChecks({ tenants, operations: ["payments.list"] } as unknown as VerificationSources, {
        merchant: "mer_9",
        all: expected,
      });
    });
    close();
    return { found, looked };
  };
  expect(rowsAmong(10)).toMatchObject({ found: ["mer_1", "mer_9", "sk_test_mer_9"] });
  expect(rowsAmong(1_000)).toEqual(rowsAmong(10));
});

test("the cache of identified callers is bounded", () => {
  const { database, tenants, close } = everyStore();
  const keys = 5_001;
  database.sql.exec(`insert into documents (merchant, kind, id, created, status, body)
      values ('mer_lodge', 'merchant', 'mer_lodge', 1, 'active', '{"id":"mer_lodge"}');
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${keys})
    insert into keys (key, merchant, kind) select 'sk_test_' || i, 'mer_lodge', 'session' from n`);
  const reading = countReads(database, "keys");
  const lookups = (number: number) =>
    reading(() => expect(tenants.identify(`sk_test_${number}`)).toMatchObject({ merchant: "mer_lodge" }));
  expect([lookups(1), lookups(1)]).toEqual([1, 0]);
  for (let number = 2; number <= keys; number++) lookups(number);
  expect([lookups(1), lookups(keys)]).toEqual([1, 0]);
  close();
});

test("the logs keep the newest entries, pending deliveries and their events, and count pruned entries", async () => {
  const bench = await openFilled();
  const counted = async () => {
    const { events } = await bench.control("GET", "/operations");
    return events.find(({ type }: { type: string }) => type === "payment.succeeded");
  };
  expect(await counted()).toMatchObject({ emitted: LOGGED, delivered: LOGGED - PENDING_ROWS });
  expect((await bench.control("GET", `/deliveries/whd_${sortKeyOf(60)}`)).attempt).toMatchObject({
    id: `whd_${sortKeyOf(60)}`,
    eventId: `evt_${sortKeyOf(60)}`,
  });
  attempted("Unbounded growth", 100);
  for (let made = 0; made < 100; made++) await trigger(bench, "payment.succeeded", { amount: made });
  // No endpoint subscribes, so only the event log grows. The events of a retained delivery are retained.
  const kept = 10_000 + PENDING_ROWS;
  expect(countRows(bench.file)).toEqual({ events: kept + 100, deliveries: kept, attempts: kept });
  expect(await counted()).toMatchObject({ emitted: LOGGED + 100, delivered: LOGGED - PENDING_ROWS });

  const gone = await bench.call("GET", `/_sandbox/deliveries/whd_${sortKeyOf(60)}`, { key: null });
  expect(gone.body).toMatchObject({
    code: "resource_not_found",
    message: expect.stringContaining("keeps the newest 10,000, and all that is pending"),
  });
  expect((await bench.control("GET", `/deliveries/whd_${sortKeyOf(50)}`)).attempt).toMatchObject({
    id: `whd_${sortKeyOf(50)}`,
    status: "failed",
  });
  expect((await bench.control("GET", `/deliveries/whd_${sortKeyOf(2001)}`)).attempt).toMatchObject({
    id: `whd_${sortKeyOf(2001)}`,
  });
  const lost = await bench.call("POST", `/_sandbox/events/evt_${sortKeyOf(60)}/replay`, { key: null, body: {} });
  expect(lost.body).toMatchObject({
    code: "resource_not_found",
    message: expect.stringContaining(`There is no event evt_${sortKeyOf(60)}.`),
  });

  await bench.control("POST", "/reset", { merchant: "mer_lodge" });
  expect(countRows(bench.file)).toEqual({ events: 0, deliveries: 0, attempts: 0 });
  expect(await counted()).toMatchObject({ emitted: 0, delivered: 0 });
});

test("an attempt is found even after 150 later attempts of its delivery", async () => {
  const again = `update deliveries set attempts = 151 where sequence = 1;
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 150)
    insert into attempts (id, merchant, endpoint, delivery, trigger, attempt, allowed, status, url,
        requestHeaders, started, ended)
    select 'whd_0001again' || i, 'mer_lodge', 'we_old', 1, 'retry', i + 1, 200, 'failed', 'http://localhost:9/', '{}',
      1, ${NOON_SECONDS * 1000} + 10 + i from n`;
  const bench = await openFilled(10, again);
  const { attempt, attempts } = await bench.control("GET", "/deliveries/whd_0001");
  expect([attempt.id, attempt.attempt, attempts.length, attempts[0].id]).toEqual([
    "whd_0001",
    1,
    100,
    "whd_0001again150",
  ]);
});

test("a pending delivery is retried even after many later ones, and the retry is listed first", async () => {
  const bench = await openFilled();
  const receiver = await receive();
  receiver.always(503);
  await register(bench, receiver.url);
  await trigger(bench, "payment.succeeded", { amount: 7 });
  await receiver.arrived(1);
  await bench.control("POST", "/drain", {});
  receiver.always(undefined);
  for (let made = 0; made < 100; made++) await trigger(bench, "payment.failed", { amount: made });
  await advance(bench, "5s");
  await receiver.arrived(102);
  const { data } = await bench.control("GET", "/deliveries?type=payment.succeeded&limit=2");
  expect(data.map(({ attempt, status }: { attempt: number; status: string }) => [attempt, status])).toEqual([
    [2, "succeeded"],
    [1, "failed"],
  ]);
  const { events, attempts } = countRows(bench.file);
  expect(events).toBeLessThan(10_000 + PENDING_ROWS + 300);
  expect(attempts).toBeLessThan(10_000 + PENDING_ROWS + 300);
});

test("a large database is checked record by record when read, and reports a damaged one in one sentence", async () => {
  const records = 100_001;
  const db = join(folder(), "large.db");
  await (await share({ memory: false, db })).close();
  const alter = (change: string) => new Sqlite(db).exec(`pragma ignore_check_constraints = on; ${change}`).close();
  alter(`insert into documents (merchant, kind, id, created, status, body)
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${records})
    select 'mer_market', kind, id || i, created, status, json_set(body, '$.id', id || i, '$.merchantId', 'mer_market')
      from n,
      (select * from documents where id = 'cus_zoe' and merchant = 'mer_lodge');
    update documents set body = json_set(body, '$.name', 5) where id = 'cus_zoe7';
    update documents set body = '{' where id = 'cus_zoe8' or merchant = 'mer_market' and kind = 'payment'`);
  const id = (number: number) => `cus_zoe${number}`;
  // The first start does not change the file, so the second start reports the same records.
  for (let start = 0; start < 2; start++) {
    const sandbox = await createSandbox({ memory: false, db, clock: NOON });
    const defects: unknown[] = [];
    sandbox.onDefect(({ error }) => defects.push(error));
    const get = (number: number) => call(sandbox.url, "GET", `/v1/customers/${id(number)}`, { key: "sk_test_market" });
    attempted("Changed snapshots and database files", 3);
    expect((await get(6)).status).toBe(200);
    for (const [number, says] of [
      [7, "name must be a string"],
      [8, "it is not a JSON object"],
    ] as const) {
      const { status, body } = await get(number);
      expect([status, body.code]).toEqual([503, "database_damaged"]);
      expect(body.message).toContain(
        `${db} holds a row of documents (merchant "mer_market", kind "customer", id "${id(number)}") ` +
          `that is invalid in the column body: ${says}`,
      );
    }
    const list = await call(sandbox.url, "GET", "/v1/payments", { key: "sk_test_market" });
    expect([list.status, list.body.code]).toEqual([503, "database_damaged"]);
    expect(defects).toHaveLength(3);
    await sandbox.close();
  }
  alter(`update documents set body = json_set(body, '$.name', 5) where id = 'mer_market'`);
  await expect(share({ memory: false, db })).rejects.toThrow(
    /a row of documents \(merchant "mer_market", kind "merchant", id "mer_market"\) that is invalid in the column body/,
  );
});
