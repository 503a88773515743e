// Presses the keys of each task in docs/dashboard.md. No task needs more keys than in mitmproxy or k9s.

import { expect, test } from "vitest";
import { loggedAttempts, loggedRequests, openTestDashboard } from "../support/dashboard.ts";
import { withLiveEvents } from "../support/live-rows.ts";
import { PEER_KEYS, RESULTS, tasks, workplace } from "../support/tasks.ts";

test("docs/dashboard.md has every task of PEER_KEYS", () => {
  expect(tasks.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(PEER_KEYS)));
});

test("docs/dashboard.md has each task of RESULTS once, in the same order", () => {
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
