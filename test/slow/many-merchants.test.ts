// Many merchants: lists and the overview are bounded, commands find their sandbox and any merchant, and a reset or
// restore blocks other requests only briefly.

import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import Sqlite from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeSandboxAt } from "../../src/cli/remote/probe.ts";
import { linesOf, runCommand } from "../support/program.ts";
import { attempted, type Bench, open, share } from "../support/sandbox.ts";

const MERCHANTS = 700;
const MOST_LISTED = 500;

/** A sandbox with MERCHANTS more merchants, inserted into its file by SQL. Each has 20 customers and a long name. */
let crowded: Bench;
let base: string;

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), "merchant-sandbox-crowd-"));
  const db = join(base, "sandbox.db");
  await (await share({ memory: false, db })).close();
  const sql = new Sqlite(db);
  sql.exec(`create temp table n as
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${MERCHANTS}) select i from n;
    insert into documents (merchant, kind, id, created, status, body)
      select 'mer_x' || i, kind, 'mer_x' || i, created, status,
        json_set(body, '$.id', 'mer_x' || i, '$.name', replace(hex(zeroblob(300)), '00', 'name'),
          '$.email', i || '@x.example')
      from documents, n where id = 'mer_lodge' and kind = 'merchant';
    insert into documents (merchant, kind, id, created, status, body)
      select 'mer_x' || n.i, kind, 'cus_' || k, created, status,
        json_set(body, '$.id', 'cus_' || k, '$.merchantId', 'mer_x' || n.i)
      from (select * from documents where merchant = 'mer_lodge' and kind = 'customer' limit 1), n,
        (select i as k from n where i <= 20);
    insert into keys (key, merchant, kind) select 'sk_test_x' || i, 'mer_x' || i, 'key' from n`);
  sql.close();
  crowded = await share({ memory: false, db, rateLimit: "payments.list=5/1h" });
});
afterAll(async () => {
  await crowded.close();
  rmSync(base, { recursive: true, force: true });
});

test("the overview and the lists are bounded, and a command finds the sandbox and every merchant", async () => {
  const bench = crowded;
  attempted("Requests that block the process", 4);
  const overview = await bench.control("GET", "");
  expect(overview.merchants).toHaveLength(MOST_LISTED);
  expect(overview.merchantCount).toBe(MERCHANTS + 4);
  expect(JSON.stringify(overview).length).toBeLessThan(1_048_576 / 2);
  expect((await describeSandboxAt(bench.url, undefined))?.pid).toBe(process.pid);
  for (const list of ["/rate-limits", "/merchants"])
    expect([list, (await bench.control("GET", list)).data.length]).toEqual([list, MOST_LISTED]);
  const newest = `mer_x${MERCHANTS}`;
  expect((await bench.control("GET", `/rate-limits?merchant=${newest}`)).data).toMatchObject([{ merchant: newest }]);
  expect((await linesOf(bench, "env", "--merchant", `x${MERCHANTS}`)).join()).toContain(`sk_test_x${MERCHANTS}`);
  expect((await runCommand(bench.url, "env", "--merchant", "nobody")).code).toBe(2);
});

test("reading the rate limits opens no window, because a new window may close another merchant's window", async () => {
  const bench = await open({ rateLimit: ["3/1h", "payments.list=5/1h"] });
  await bench.call("GET", "/v1/payments");
  await bench.call("GET", "/v1/merchants/me");
  const windows = async () =>
    (await bench.control("GET", "/rate-limits?merchant=mer_lodge")).data.map((one: Record<string, unknown>) => [
      one.operation,
      one.remaining,
    ]);
  expect(await windows()).toEqual([
    [null, 2],
    ["payments.list", 4],
  ]);
  await bench.control("POST", "/reset", { merchant: "mer_lodge" });
  expect(await windows()).toEqual([[null, 3]]);
});

test("requests see the old state while a large snapshot is checked, and then only the new state", async () => {
  const bench = crowded;
  attempted("Requests that block the process");
  await bench.control("PUT", "/snapshots/large");
  await bench.control("POST", "/reset", {});
  let isOver = false;
  const restored = bench.control("POST", "/snapshots/large/restore").then((reply) => {
    isOver = true;
    return reply;
  });
  const seen: number[] = [];
  while (!isOver) seen.push((await bench.control("GET", "")).merchantCount);
  expect(await restored).toEqual({ restored: "large" });
  // While the worker thread checks the snapshot, several requests are handled.
  expect(seen.filter((count) => count === 4).length).toBeGreaterThan(5);
  expect(new Set(seen).size).toBeLessThanOrEqual(2);
  expect((await bench.control("GET", "")).merchantCount).toBe(MERCHANTS + 4);
  expect((await bench.call("GET", "/v1/customers/cus_20", { key: `sk_test_x${MERCHANTS}` })).status).toBe(200);
});

test("a reset of many merchants is atomic: each request sees either the old or the new data", async () => {
  const bench = crowded;
  attempted("Requests that block the process");
  let isOver = false;
  const reset = bench.control("POST", "/reset", {}).then(() => {
    isOver = true;
  });
  const found: number[] = [];
  do found.push((await bench.call("GET", "/v1/customers/cus_20", { key: `sk_test_x${MERCHANTS}` })).status);
  while (!isOver);
  await reset;
  const after = await bench.call("GET", "/v1/customers/cus_20", { key: `sk_test_x${MERCHANTS}` });
  expect([...found, after.status].join()).toMatch(/^(200,)*(401,?)+$/);
  expect((await bench.control("GET", "")).merchantCount).toBe(4);
  expect((await bench.call("GET", "/v1/payments")).status).toBe(200);
});

/** Requests a report, and stops reading after the response headers. */
async function pausedReader(url: string, format: string) {
  const sent = request(`${url}/_sandbox/report?format=${format}`, { agent: false }).end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  sent.on("error", () => {});
  return answer.pause();
}

test("responses that clients do not read are bounded; once these clients disconnect, a report gets a 200", async () => {
  const bench = await open();
  // This long query makes the report longer than the send buffer of a socket.
  const query = `limit=1&starting_after=${"x".repeat(14_000)}`;
  for (let number = 0; number < 600; number++) await bench.call("GET", `/v1/payments?${query}`);
  attempted("Unbounded growth");
  const readers = await Promise.all(Array.from({ length: 20 }, () => pausedReader(bench.url, "json")));
  expect(new Set(readers.map(({ statusCode }) => statusCode))).toEqual(new Set([200, 503]));
  for (const reader of readers) reader.destroy();
  await expect
    .poll(async () => (await bench.call("GET", "/_sandbox/report?format=json", { key: null })).status)
    .toBe(200);
});

test("a report with bodies is generated only as fast as the client reads it", async () => {
  const bench = await open();
  const body = { name: "Weekend", adjustmentType: "fixed", adjustmentValue: 1, note: "x".repeat(16_000) };
  for (let number = 0; number < 300; number++) await bench.call("POST", "/v1/hospitality/pricing-rules", { body });
  attempted("Unbounded growth");
  const readers = await Promise.all(Array.from({ length: 12 }, () => pausedReader(bench.url, "har")));
  expect(new Set(readers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
  // The rest of the report is generated after the reset, so the report lacks the erased requests.
  await bench.control("POST", "/reset", {});
  const [reader, ...others] = readers as [IncomingMessage, ...IncomingMessage[]];
  for (const other of others) other.destroy();
  const { log } = JSON.parse(await text(reader.resume()));
  expect(log.entries.length).toBeGreaterThan(0);
  expect(log.entries.length).toBeLessThan(300);
});
