// Database files as a long run leaves them. A sandbox creates the file, and SQL fills it with copies of the seeded
// records, because a million calls would take too long.

import Sqlite from "better-sqlite3";
import { call } from "./control-call.js";
import { open, ROWS } from "./measure.js";

/** The sizes to compare, up to BENCH_ROWS. */
export const sizes = (...all) => all.filter((size) => size <= ROWS);

export const power = (size) => `10^${Math.round(Math.log10(size))}`;

/**
 * Creates a file with the seeded records and an endpoint that never responds, and runs the SQL that `fill` returns for
 * the id of that endpoint.
 */
export async function grownFile(file, fill) {
  const { createSandbox } = await import("../dist/index.cjs");
  const sandbox = await createSandbox({ memory: false, db: file, clock: "2026-01-05T12:00:00Z" });
  const silent = await call(sandbox.port, "POST", "/v1/webhooks", {
    url: "http://127.0.0.1:65535/",
    events: ["payout.paid"],
  });
  await sandbox.close();
  const sql = new Sqlite(file);
  sql.pragma("synchronous = off");
  sql.transaction(() => sql.exec(fill(silent.id)))();
  sql.pragma("wal_checkpoint(truncate)");
  sql.close();
  return file;
}

/** Opens a server for each file. `files` and the result are maps with the same names. */
export async function openOver(files, server = "over") {
  const servers = new Map();
  for (const [name, file] of files) servers.set(name, await open(server, { words: [file] }));
  return servers;
}

/** The numbers from 1 to `size`, as a SQL common table expression. */
const numbers = (size) => `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${size})`;

/** Copies one of lodge's records under new ids. */
const copies = (size, kind, prefix) => `${numbers(size)}, one as (
    select * from documents where merchant = 'mer_lodge' and kind = '${kind}' order by sequence limit 1)
  insert into documents (merchant, kind, id, created, status, body)
  select merchant, kind, '${prefix}' || i, created + i, status, json_set(body, '$.id', '${prefix}' || i) from n, one;`;

/** Adds `size` records, half of them customers (`cus_grown1`, …) and half payments. */
export const withRecords = (size) => () =>
  copies(size / 2, "customer", "cus_grown") + copies(size / 2, "payment", "pay_grown");

/** Adds `size` deliveries to the endpoint of `grownFile`, none of them due before next year. */
export const withBacklog = (size) => (endpoint) =>
  `
  ${numbers(size)}
    insert into events (id, merchant, type, created, origin, request, body)
    select 'evt_grown' || i, 'mer_lodge', 'payout.paid', 1767614400000 + i, 'event', null,
      json_object('id', 'evt_grown' || i, 'type', 'payout.paid', 'livemode', json('false'),
        'data', json_object('amount', i)) from n;
  insert into deliveries (merchant, endpoint, event, trigger, state, attempts, allowed, due, created)
    select merchant, '${endpoint}', sequence, 'event', 'pending', 0, 6, created + 40000000000, created from events;`;
