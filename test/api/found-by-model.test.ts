// Regression tests for defects that the model-based tests found, each reduced to a minimal case.

import { expect, test } from "vitest";
import { open } from "../support/sandbox.ts";

test("a fault rule without a delay fires even after the clock was set back", async () => {
  const bench = await open();
  await bench.control("POST", "/faults", { action: { type: "rate_limit" } });
  await bench.control("PUT", "/clock", { mode: "frozen", now: "2026-01-04T12:00:00Z" });
  expect((await bench.call("GET", "/v1/payments")).body.code).toBe("injected_rate_limit");
});

test("an expired fault rule fires again once the clock is set back before its end, as the list of rules shows", async () => {
  const bench = await open();
  await bench.control("POST", "/faults", { action: { type: "rate_limit" }, trigger: { for: "5s" } });
  await bench.control("POST", "/clock/advance", { by: "10m" });
  expect((await bench.call("GET", "/v1/payments")).status).toBe(200);
  await bench.control("PUT", "/clock", { mode: "frozen", now: "2026-01-04T12:00:00Z" });
  expect((await bench.control("GET", "/faults")).data).toMatchObject([{ status: "armed" }]);
  expect((await bench.call("GET", "/v1/payments")).body.code).toBe("injected_rate_limit");
});

test("a merchant that was reset can create merchants again, besides those that it created before", async () => {
  const bench = await open();
  const create = (email: string) => bench.call("POST", "/v1/merchants", { body: { name: "Café", email } });
  const one = await create("one@cafe.example");
  await bench.control("POST", "/reset", { merchant: "mer_lodge" });
  const other = await create("other@cafe.example");
  expect([one.status, other.status]).toEqual([200, 200]);
  expect(other.body.id).not.toBe(one.body.id);
  expect((await bench.call("GET", "/v1/merchants/me", { key: one.body.apiKey })).body.email).toBe("one@cafe.example");
});
