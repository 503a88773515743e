// The table of tasks in docs/dashboard.md: its keys are pressed, and are never more than mitmproxy or k9s needs.

import { expect, test } from "vitest";
import { loggedAttempts, loggedRequests, openTestDashboard } from "../support/dashboard.ts";
import { withLiveEvents } from "../support/live-rows.ts";
import { PEER_KEYS, RESULTS, tasks, workplace } from "../support/tasks.ts";

test("every task in PEER_KEYS is on the page", () => {
  expect(tasks.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(PEER_KEYS)));
});

test("the page has each task once, and RESULTS has its result", () => {
  expect(tasks.map(({ name }) => name)).toEqual(Object.keys(RESULTS));
});

test.each(tasks)("$name", async ({ name, keys }) => {
  expect(keys.length).toBeLessThanOrEqual(PEER_KEYS[name] ?? Number.POSITIVE_INFINITY);
  const bench = await workplace();
  const desk = await openTestDashboard(bench.url, 120, 45);
  desk.state = withLiveEvents(desk.state, [...(await loggedRequests(bench)), ...(await loggedAttempts(bench))]);
  for (const key of keys) await desk.run(key);
  expect([...desk.screen(), ...desk.copied.map((text) => `copied: ${text}`)].join("\n")).toMatch(RESULTS[name] ?? /^$/);
});
