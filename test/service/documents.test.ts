// The list of facts, the coverage and the OpenAPI document of a sandbox with a service file.

import { expect, test } from "vitest";
import type { RunReport } from "../../src/contracts/run-report.ts";
import type { Bench } from "../support/sandbox.ts";
import { openAs } from "../support/service-file.ts";

test("the OpenAPI document describes the plain service", async () => {
  const facts = { "bookings.decline.status": 202, "payment.customerId.name": "customer", "payments.list.query.limit.maximum": 50 };
  const [plain, under] = [await openAs({}), await openAs(facts)];
  const documentOf = async (bench: Bench) => {
    const { servers: _, ...document } = (await bench.control("GET", "/openapi.json")) as Record<string, unknown>;
    return document;
  };
  expect(await documentOf(under)).toEqual(await documentOf(plain));
});

test("the list of facts says which are recorded", async () => {
  const bench = await openAs({ "bookings.decline.status": 202, "payments.list/error.invalid_limit.status": 418 });
  const { facts: listed, total } = await bench.control("GET", "/assumptions");
  const plain = await (await openAs({})).control("GET", "/assumptions");
  expect(listed).toContainEqual({ id: "bookings.decline.status", kind: "success_status", value: 202, origin: "recorded" });
  expect(listed).toContainEqual({ id: "payments.list/error.invalid_limit.status", kind: "error_status", value: 418, origin: "recorded" });
  expect(plain.total - total).toBe(1);
});

test("coverage counts the statuses of the file", async () => {
  const bench = await openAs({ "bookings.decline.status": 202, "error.invalid_state.status": 422 });
  await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline");
  const { data } = await bench.control("GET", "/operations");
  const decline = data.find(({ id }: { id: string }) => id === "bookings.decline");
  expect(decline.byStatus).toEqual({ 202: 1 });
  const { coverage } = (await bench.report({ format: "json" })) as RunReport;
  const { statuses } = coverage.find(({ operation }) => operation === "bookings.decline") ?? { statuses: [] };
  expect(statuses.map(({ status }) => status)).toEqual([202, 404, 422]);
});
