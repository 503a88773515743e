// Concurrent deliveries to many endpoints, some of them dead.

import { expect, test } from "vitest";
import { open } from "../support/sandbox.ts";
import { receive, register, trigger } from "../support/webhooks.ts";

test("a dead endpoint does not delay a thousand others: each of three events arrives once at each", async () => {
  // On a busy machine an attempt among a thousand takes longer than the default timeout.
  const bench = await open({ clock: "real", rateLimit: "none", webhookTimeout: "60s" });
  const [dead, receiver] = [await receive(), await receive()];
  dead.always("hang");
  for (let index = 0; index < 20; index++) await register(bench, `${dead.url}/${index}`, ["a.b"]);
  for (let index = 0; index < 1_000; index++) await register(bench, `${receiver.url}/${index}`, ["a.b"]);
  const ids = [];
  for (let index = 0; index < 3; index++) ids.push(await trigger(bench, "a.b"));
  const arrivals = await receiver.arrived(3_000);
  const told = new Set(arrivals.map(({ url, event }) => `${url} ${event.id}`));
  expect([arrivals.length, told.size]).toEqual([3_000, 3_000]);
  expect(new Set(arrivals.map(({ event }) => event.id))).toEqual(new Set(ids));
  await dead.close();
});
