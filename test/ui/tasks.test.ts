// The table of tasks in docs/dashboard.md: its keys are pressed, and are never more than those of mitmproxy or k9s.

import { expect, test } from "vitest";
import type { LiveEvent } from "../../src/contracts/live-messages.ts";
import { attemptRow } from "../../ui/details/delivery.ts";
import { requestRow } from "../../ui/details/request.ts";
import { openTestDashboard } from "../support/dashboard.ts";
import { withLiveEvents } from "../support/live-rows.ts";
import type { Bench } from "../support/sandbox.ts";
import { RESULTS, tasks, workplace } from "../support/tasks.ts";

/** A dashboard with the rows that the sandbox has logged. */
async function dashboardOf(bench: Bench) {
  const desk = await openTestDashboard(bench.url, 120, 45);
  const requests = (await bench.control("GET", "/requests?limit=100")).data.toReversed().map(requestRow);
  const attempts = (await bench.control("GET", "/deliveries?limit=100")).data.toReversed().map(attemptRow);
  desk.state = withLiveEvents(desk.state, [
    ...requests.map((request: unknown) => ({ kind: "request", request })),
    ...attempts.map((attempt: unknown) => ({ kind: "attempt", attempt })),
  ] as LiveEvent[]);
  return desk;
}

test("has each task once, with a result to see", () => {
  expect(tasks.map(({ name }) => name)).toEqual(Object.keys(RESULTS));
});

test.each(tasks)("$name", async ({ name, keys, peer }) => {
  expect(keys.length).toBeLessThanOrEqual(peer ?? Number.POSITIVE_INFINITY);
  const desk = await dashboardOf(await workplace());
  for (const key of keys) {
    await desk.run(key);
  }
  expect([...desk.screen(), ...desk.copied.map((text) => `copied: ${text}`)].join("\n")).toMatch(RESULTS[name] ?? /^$/);
});
