// Property of generated traffic: its records contradict neither their kind nor one another.

import fc from "fast-check";
import { expect, test } from "vitest";
import { kinds } from "../../src/traffic/kinds.ts";
import { inputs } from "../support/fuzzing.ts";
import { type Bench, NOON, share } from "../support/sandbox.ts";
import { violations } from "../support/world-violations.ts";

const happened = async (bench: Bench): Promise<number> => (await bench.control("GET", "/traffic")).data[0].happened;

test("for any mix, rate and duration, every generated record is valid, and the world holds together", async () => {
  const names = Object.keys(kinds);
  const mixes = fc.dictionary(fc.constantFrom(...names), fc.integer({ min: 1, max: 9 }), { minKeys: 1 });
  const merchants = fc.constantFrom("mer_lodge", "mer_market", "mer_stage", "mer_blank");
  const rates = fc.constantFrom("100/s", "7/s", "30/m", "1/10s", "5/h", "1/d");
  // Away from both ends of the calendar, where dates that would lie beyond coincide.
  const times = fc.constantFrom(NOON, "1972-02-29T00:00:00Z", "2024-02-29T23:59:59Z", "9999-06-30T23:00:00Z");
  const property = fc.asyncProperty(mixes, merchants, rates, times, fc.nat(), async (mix, merchant, rate, clock, seed) => {
    const bench = await share({ clock, seed });
    const seeded = await violations(bench);
    await bench.control("POST", "/traffic", { merchant, mix, rate });
    for (let left = 60; left > 0 && (await happened(bench)) < 80; left--) {
      const by = ["1s", "1m", "1h", "3d"].find((span) => span.endsWith(rate.endsWith("/10s") ? "m" : rate.slice(-1))) ?? "1m";
      if ((await bench.call("POST", "/_sandbox/clock/advance", { key: null, body: { by } })).status !== 200) break;
    }
    expect((await violations(bench)).filter((found) => !seeded.includes(found))).toEqual([]);
    expect((await bench.control("GET", "/traffic")).data[0].status).toBe("running");
    await bench.close();
  });
  await fc.assert(property, { numRuns: inputs(6) });
});
