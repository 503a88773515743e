// The table of tasks in docs/dashboard.md: its keys are pressed, and are never more than those of mitmproxy or k9s.

import { expect, test } from "vitest";
import type { LiveEvent } from "../../src/contracts/live-messages.ts";
import { attemptRow } from "../../ui/details/delivery.ts";
import { requestRow } from "../../ui/details/request.ts";
import { openTestDashboard } from "../support/dashboard.ts";
import { judged, requested, withLiveEvents } from "../support/live-rows.ts";
import { open } from "../support/sandbox.ts";
import { RESULTS, tasks } from "../support/tasks.ts";
import { receive, register, settle } from "../support/webhooks.ts";

/** A booking that was declined, its delivery, a 404 and a cut connection. */
async function workplace() {
  const bench = await open();
  await register(bench, (await receive()).url);
  await bench.call("GET", "/v1/nowhere");
  await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { body: { reason: "full" } });
  await settle(bench);
  const desk = await openTestDashboard(bench.url, 120, 45);
  const requests = (await bench.control("GET", "/requests?limit=100")).data.toReversed().map(requestRow);
  const attempts = (await bench.control("GET", "/deliveries?limit=100")).data.toReversed().map(attemptRow);
  desk.state = withLiveEvents(desk.state, [
    requested(0, { path: "/v1/lost", status: 0 }),
    ...requests.map((one: unknown) => ({ kind: "request", request: one })),
    ...attempts.map((one: unknown) => ({ kind: "attempt", attempt: one })),
    judged(1),
  ] as LiveEvent[]);
  return desk;
}

test("has each task once, with a result to see", () => {
  expect(tasks.map(({ name }) => name)).toEqual(Object.keys(RESULTS));
});

test.each(tasks)("$name", async ({ name, keys, peer }) => {
  expect(keys.length).toBeLessThanOrEqual(peer ?? Number.POSITIVE_INFINITY);
  const desk = await workplace();
  for (const key of keys) {
    desk.press(key);
    await desk.settle();
  }
  expect([...desk.screen(), ...desk.copied.map((text) => `copied: ${text}`)].join("\n")).toMatch(RESULTS[name] ?? /^$/);
});
