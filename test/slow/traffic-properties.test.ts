// Property of generated traffic: every record is one that a fixture may hold.

import Sqlite from "better-sqlite3";
import fc from "fast-check";
import { expect, test } from "vitest";
import { resources } from "../../src/areas/index.ts";
import { checkFixture } from "../../src/store/world/fixture-check.ts";
import { kinds } from "../../src/traffic/kinds.ts";
import { inputs } from "../support/fuzzing.ts";
import { type Bench, NOON, share } from "../support/sandbox.ts";

const happened = async (bench: Bench): Promise<number> => (await bench.control("GET", "/traffic")).data[0].happened;

test("for any mix, rate and duration, every generated record is valid in a fixture", async () => {
  const names = Object.keys(kinds);
  const mixes = fc.dictionary(fc.constantFrom(...names), fc.integer({ min: 1, max: 9 }), { minKeys: 1 });
  const merchants = fc.constantFrom("mer_lodge", "mer_market", "mer_stage", "mer_blank");
  const rates = fc.constantFrom("100/s", "7/s", "30/m", "1/10s", "5/h", "1/d");
  // Away from both ends of the calendar, where dates that would lie beyond coincide.
  const times = fc.constantFrom(NOON, "1972-02-29T00:00:00Z", "2024-02-29T23:59:59Z", "9999-06-30T23:00:00Z");
  const property = fc.asyncProperty(mixes, merchants, rates, times, fc.nat(), async (mix, merchant, rate, clock, seed) => {
    const bench = await share({ clock, seed });
    await bench.control("POST", "/traffic", { merchant, mix, rate });
    for (let left = 60; left > 0 && (await happened(bench)) < 80; left--) {
      const by = ["1s", "1m", "1h", "3d"].find((span) => span.endsWith(rate.endsWith("/10s") ? "m" : rate.slice(-1))) ?? "1m";
      if ((await bench.call("POST", "/_sandbox/clock/advance", { key: null, body: { by } })).status !== 200) break;
    }
    const { file } = await bench.control("PUT", "/snapshots/end");
    expect(problemsOf(file, merchant)).toEqual([]);
    expect((await bench.control("GET", "/traffic")).data[0].status).toBe("running");
    await bench.close();
  });
  await fc.assert(property, { numRuns: inputs(6) });
});

/** The errors in a merchant's records, by the checks for custom fixtures. */
function problemsOf(file: string, merchant: string) {
  const sql = new Sqlite(file, { readonly: true });
  const rows = sql.prepare("select kind, body from documents where merchant = ?").all(merchant) as { kind: string; body: string }[];
  sql.close();
  const records: Record<string, object[]> = {};
  for (const { kind, body } of rows) {
    const { object: _, merchantId: __, livemode: ___, ...fields } = JSON.parse(body);
    records[kind] = [...(records[kind] ?? []), fields];
  }
  const { merchant: [profile = {}] = [], ...others } = records;
  const { metadata: ___, ...who } = profile as Record<string, unknown>;
  return checkFixture({ merchant: { ...who, apiKey: "sk_test_anybody" }, records: others }, resources);
}
