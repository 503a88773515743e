// Query plans: each listed statement uses its index, and no statement is planned again for each bound value.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventTypes } from "../../src/areas/index.ts";
import { createClock, parseTime } from "../../src/kernel/clock.ts";
import { createRandom } from "../../src/kernel/random.ts";
import { openStores, type Stores } from "../../src/store/stores.ts";
import { NOON } from "../support/sandbox.ts";

let stores: Stores;
let texts: string[];
beforeAll(() => {
  const webhooks = { gaps: [0], writeEvent: JSON.stringify, checkTarget: () => {}, eventTypes };
  stores = openStores({ clock: createClock(parseTime(NOON)), random: createRandom(1), webhooks });
  // These statements are prepared at their first use.
  for (const merchant of [undefined, "mer_lodge"])
    for (const filter of [
      {},
      { endpointId: "we_1" },
      { endpointId: "we_1", status: "failed" },
      { status: "succeeded" },
      { eventId: "evt_1" },
    ])
      stores.attempts.page(merchant, filter);
  stores.requestLog.forget();
  texts = [...stores.database.sql.statements].map((text) => text.replace(/\s+/g, " ").trim());
});
afterAll(() => stores.close());

function planOf(text: string): string {
  const names = [...text.matchAll(/@([a-z]\w*)/gi)].map(([, name]) => [name, 1]);
  const values = names.length > 0 ? [Object.fromEntries(names)] : [...text.matchAll(/\?/g)].map(() => 1);
  const rows = stores.database.sql.prepare<unknown[], { detail: string }>(`explain query plan ${text}`).all(...values);
  return rows.map(({ detail }) => detail).join("; ");
}

/** A part of a statement, and the index with the columns by which SQLite must search. */
const INDEXES: [statement: string, search: string][] = [
  [
    "select body from documents where merchant = @merchant and kind = +@kind and id",
    "sqlite_autoindex_documents_1 (merchant=? AND kind=? AND id=?)",
  ],
  ["select sequence, created from documents where", "sqlite_autoindex_documents_1 (merchant=? AND kind=? AND id=?)"],
  [
    "update documents set status = @status, body = @body",
    "sqlite_autoindex_documents_1 (merchant=? AND kind=? AND id=?)",
  ],
  ["and kind = +@kind and outstanding = 1", "documents_outstanding (merchant=? AND kind=?)"],
  ["update documents set due = @due", "sqlite_autoindex_documents_1 (merchant=? AND kind=? AND id=?)"],
  ["select min(due) from documents", "documents_due"],
  ["from documents where due <= ? order by due, sequence", "documents_due (due<?)"],
  [
    "delete from documents where merchant = @merchant and kind",
    "sqlite_autoindex_documents_1 (merchant=? AND kind=? AND id=?)",
  ],
  ["and kind = +@kind order by created desc", "documents_newest (merchant=? AND kind=?)"],
  [
    "and created = @created and sequence < @sequence",
    "documents_newest (merchant=? AND kind=? AND created=? AND rowid<?)",
  ],
  [
    "and created = @created and sequence > @sequence",
    "documents_newest (merchant=? AND kind=? AND created=? AND rowid>?)",
  ],
  ["and kind = +@kind and created < @created", "documents_newest (merchant=? AND kind=? AND created<?)"],
  ["and kind = +@kind and created > @created", "documents_newest (merchant=? AND kind=? AND created>?)"],
  ["select merchant from documents where kind = 'webhook_endpoint'", "documents_of_all (kind=? AND id=?)"],
  ["delete from uniques where document", "uniques_of (document=?)"],
  ["delete from replies where expires", "replies_expiring (expires<?)"],
  ["select min(expires) from replies", "replies_expiring"],
  ["select id, type from events where request", "events_by_request (request=?)"],
  ["substr(e.trace, 4, 32) = @trace order by e.sequence", "events_by_trace (<expr>=?)"],
  ["from request_log log where trace = @trace order by sequence", "request_log_by_trace (trace=?)"],
  ["select endpoint from subscriptions where", "PRIMARY KEY (merchant=? AND type=?)"],
  ["select min(due) from deliveries where merchant", "deliveries_open (merchant=? AND endpoint=? AND state=?)"],
  [
    "d.state = 'pending' and d.due <= @now order by d.due",
    "deliveries_open (merchant=? AND endpoint=? AND state=? AND due<?)",
  ],
  ["and +state = 'pending' group by merchant, endpoint", "PRIMARY KEY (rowid>?)"],
  ["indexed by deliveries_open where state = 'sending'", "deliveries_open"],
  ["d.decided is null and d.due <= ?", "deliveries_undecided (due<?)"],
  ["select count(*) from deliveries where failed = 1", "COVERING INDEX deliveries_failed"],
  ["d.held = ? order by d.sequence", "deliveries_held (held=?)"],
  ["where a.merchant = @merchant order by a.ended desc", "attempts_newest (merchant=?)"],
  [
    "where a.merchant = @merchant and a.endpoint = @endpointId order by a.ended desc",
    "attempts_of_endpoint (merchant=? AND endpoint=?)",
  ],
  [
    "and a.endpoint = @endpointId and a.status = +@status and a.status = 'failed'",
    "attempts_failed (merchant=? AND endpoint=?)",
  ],
  ["where +a.merchant = @merchant and a.delivery in", "sqlite_autoindex_attempts_1 (delivery=?)"],
  ["and status = 'failed' order by ended desc", "attempts_failed (merchant=? AND endpoint=?)"],
  [
    "and status = 'failed' and (ended, delivery, attempt) >",
    "attempts_failed (merchant=? AND endpoint=? AND (ended,delivery,attempt)>(?,?,?))",
  ],
  ["and ended > @since", "attempts_of_endpoint (merchant=? AND endpoint=? AND ended>?)"],
  ["delete from request_log where sequence", "PRIMARY KEY (rowid>? AND rowid<?)"],
];

test.each(INDEXES)("the statement with `%s` uses %s", (statement, search) => {
  const found = texts.filter((text) => text.includes(statement));
  expect(found, "a statement of this text").not.toEqual([]);
  for (const text of found) expect(planOf(text), text).toContain(search);
});

describe("no statement is planned again for each bound value", () => {
  test("of a column that a partial index depends on", () => {
    const partial = stores.database.sql
      .prepare<[], string>("select sql from sqlite_master where type = 'index' and sql like '% where %'")
      .pluck()
      .all();
    const columns = new Set(
      partial.flatMap((sql) => [...sql.replace(/.* where /s, "").matchAll(/(\w+) = '/g)].map(([, column]) => column)),
    );
    expect([...columns].sort()).toEqual(["kind", "state", "status"]);
    // Only these three tables have partial indexes, so statements on `uniques` may bind `kind`.
    const conditions = texts
      .filter((text) => /\b(documents|deliveries|attempts)\b/.test(text) && !/from uniques where/.test(text))
      .map((text) => text.replace(/^.*?\bwhere\b/s, ""));
    const visible = conditions.filter((text) =>
      [...columns].some((column) => new RegExp(`\\b${column} = [?@]`).test(text)),
    );
    expect(visible).toEqual([]);
  });

  test("of a limit or a pattern", () => {
    expect(texts.filter((text) => /(?<!@)\blimit (?![?@]\w* \+ 0|\d)|\blike [?@]/.test(text))).toEqual([]);
  });
});
