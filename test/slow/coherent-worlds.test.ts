// The world of each seeded merchant stays coherent through each scenario with a client that makes every example call.

import { expect, onTestFinished, test, vi } from "vitest";
import { exampleCalls } from "../../scripts/docs/pages.ts";
import { open } from "../support/sandbox.ts";
import { violations } from "../support/world-violations.ts";

test("nothing is violated after a scenario", async () => {
  const bench = await open();
  const { data } = await bench.control("GET", "/scenarios");
  expect(data.length).toBeGreaterThan(5);
  // Many scenarios delay responses in real time: here by a hundredth of it.
  const { setTimeout: start } = globalThis;
  const hurry = (callback: () => void, delay = 0) => start(callback, delay / 100);
  vi.spyOn(globalThis, "setTimeout").mockImplementation(hurry as typeof setTimeout);
  onTestFinished(() => void vi.restoreAllMocks());
  for (const { name } of data) {
    await bench.control("POST", "/reset", {});
    await bench.control("POST", `/scenarios/${name}`, {});
    // A scenario may break the connection: the client tries once more.
    for (let time = 0; time < 2; time++)
      for (const { method, path, headers, body } of exampleCalls())
        await bench.call(method, `/v1${path}`, { key: null, headers, body, contentType: null }).catch(() => {});
    expect([name, await violations(bench)]).toEqual([name, []]);
  }
});
