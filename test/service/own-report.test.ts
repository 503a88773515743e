// A sandbox under a service file, compared with that file: its own report contradicts nothing.

import { expect, test } from "vitest";
import { compare } from "../../src/compare/compare.ts";
import { readHar } from "../../src/compare/read-recording.ts";
import { comparedSandbox } from "../../src/sandbox/documents.ts";
import { adoptedFacts } from "../../src/service/service-file.ts";
import { changeTo, contradictedIn, fileOf, recordingOf } from "../support/real-service/comparison.ts";
import { differences } from "../support/real-service/differences.ts";
import { openAs } from "../support/service-file.ts";
import { receive } from "../support/webhooks.ts";

const RULES = "/v1/hospitality/pricing-rules";
const RULE = { name: "Weekend", adjustmentType: "fixed", priority: 1 };
/** They hide others: calls refused for their rate, and no replays to look at. */
const ALONE = ["a hundred requests a window", "a repeated key is refused", "a repeated key has a second effect"];

test("the report of a sandbox under a service file contradicts nothing that the file says", async () => {
  const chosen = differences.filter(({ name, cannotBeAdopted }) => !cannotBeAdopted && !ALONE.includes(name));
  const { facts } = fileOf({ ...recordingOf(changeTo(chosen)), deliveries: [] });
  const receiver = await receive();
  receiver.always(500);
  const bench = await openAs(facts, { endpoints: [{ url: receiver.url }] });
  const call = (method: string, path: string, body?: unknown, key?: string) =>
    bench.call(method, path, { key: "sk_test_lodge", body, headers: key === undefined ? {} : { "X-Request-Key": key } });
  for (const list of ["payments", "payouts"])
    for (const query of ["", "?limit=1", "?limit=3", "?limit=50", "?limit=51", "?limit=100", "?limit=0", "?limit=500"])
      await call("GET", `/v1/${list}${query}`);
  const { items } = (await call("GET", "/v1/payments?limit=2")).body;
  await call("GET", `/v1/payments?limit=2&after=${items[1].id}`);
  await call("GET", `/v1/customers/${items[0].customer ?? "cus_nope"}`);
  await call("GET", "/v1/customers/cus_nope");
  await bench.call("GET", "/v1/payments", { key: null });
  for (const key of ["one", "one", "two"]) await call("POST", RULES, RULE, key);
  await call("POST", RULES, { ...RULE, name: "Other" }, "one");
  await call("POST", RULES, { ...RULE, colour: "blue" });
  for (const field of Object.keys(RULE)) await call("POST", RULES, { ...RULE, [field]: undefined });
  for (const id of ["pending", "pending", "nope"]) await call("POST", `/v1/hospitality/bookings/bkg_${id}/decline`, {});
  await bench.control("POST", "/clock/advance", { by: "2h" });
  await call("POST", RULES, RULE, "one");
  const har = await bench.control("GET", "/report?format=har");
  const found = compare(comparedSandbox(adoptedFacts({ facts })), readHar(JSON.stringify(har), "report.har"));
  expect(contradictedIn(found)).toEqual([]);
  const confirmed = found.verdicts
    .filter(({ verdict, fact }) => verdict === "confirmed" && fact.origin === "recorded")
    .map(({ fact }) => fact.id);
  expect(confirmed.length).toBeGreaterThan(30);
});
