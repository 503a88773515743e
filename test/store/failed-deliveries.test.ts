// The kept count of failed deliveries is that of a scan, whatever happens to deliveries and in which order.

import { expect, test } from "vitest";
import { eventTypes } from "../../src/areas/index.ts";
import { createClock, parseTime } from "../../src/kernel/clock.ts";
import { createRandom } from "../../src/kernel/random.ts";
import { openStores } from "../../src/store/stores.ts";
import { NOON } from "../support/sandbox.ts";

/** The definition: failed for good, and no other delivery of the event to the endpoint is newer or open. */
const SCAN = `select count(*) from deliveries d where state = 'failed' and not exists (
  select 1 from deliveries o where o.event = d.event and o.endpoint = d.endpoint
    and (o.sequence > d.sequence or o.state = 'pending' or o.state = 'sending'))`;

test.each([1, 2])("after each of 400 random steps (seed %i)", (seed) => {
  const random = createRandom(seed);
  const webhooks = { gaps: [0], checkTarget: () => {}, eventTypes };
  const { database, runSummary, deliveries, close } = openStores({ clock: createClock(parseTime(NOON)), random, webhooks });
  const { sql } = database;
  const choose = (step: number, what: string, most: number) => Math.floor(random.fraction("failed", step, what) * most);
  const event = sql.prepare(
    "insert into events (id, merchant, type, created, origin, body) values (?, 'mer_1', 'payout.paid', 0, 'event', '{}')",
  );
  const insert = sql.prepare(
    `insert into deliveries (merchant, endpoint, event, trigger, replay, state, allowed, due, created, copy)
     values ('mer_1', @endpoint, @event, @trigger, @replay, 'pending', 1, 0, 0, @copy)`,
  );
  const open = sql
    .prepare<[], number>("select sequence from deliveries where state = 'pending' or state = 'sending' order by sequence")
    .pluck();
  let events = 0;
  const counts = new Set<number>();
  for (let step = 0; step < 400; step++) {
    const waiting = open.all();
    const sequence = waiting[choose(step, "which", waiting.length)];
    const act = choose(step, "act", 8);
    const again = act === 0 ? { replay: step + 1, copy: 0, trigger: "replay" } : { replay: 0, copy: 1, trigger: "event" };
    // Another delivery of an event to an endpoint is a replay or a copy.
    if (sequence === undefined || act === 7) event.run(`evt_${++events}`);
    const endpoint = `we_${choose(step, "to", 2)}`;
    if (sequence === undefined || act === 7) insert.run({ endpoint, event: events, replay: 0, copy: 0, trigger: "event" });
    else if (act < 2) insert.run({ endpoint, event: events - choose(step, "event", Math.min(events, 3)), ...again });
    else if (act === 2) deliveries.markSending(sequence);
    else if (act === 3) deliveries.disable("mer_1", endpoint, "test");
    else deliveries.finish(sequence, act < 6 ? "failed" : "succeeded");
    expect([step, runSummary.failedDeliveries()]).toEqual([step, sql.prepare<[], number>(SCAN).pluck().get()]);
    counts.add(runSummary.failedDeliveries());
  }
  expect(counts.size).toBeGreaterThan(3);
  close();
});
