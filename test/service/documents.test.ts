// The OpenAPI document and the list of facts of a sandbox with a service file.

import { expect, test } from "vitest";
import type { RunReport } from "../../src/contracts/run-report.ts";
import type { Bench } from "../support/sandbox.ts";
import { openAs } from "../support/service-file.ts";

const facts = {
  "bookings.decline.status": 202,
  "webhooks.delete.status": 204,
  "error.invalid_state.status": 422,
  "error.invalid_state.code": "wrong_state",
  "payments.list/error.invalid_limit.status": 418,
  "payments.list.query.limit.name": "page_size",
  "payments.list.query.limit.maximum": 50,
  "payments.list.reply.envelope": "items",
  "payment.customerId.name": "customer",
  "header.RateLimit-Limit.name": "X-Limit",
  "header.RateLimit-Remaining": "absent",
  "idempotency.header": "X-Request-Key",
  "error.envelope": "error",
  "event.type.values.booking.declined": "booking.rejected",
  "webhook.header.X-Webhook-Signature.name": "X-Sig",
};

// biome-ignore lint/suspicious/noExplicitAny: the document is JSON.
const documentOf = (bench: Bench): Promise<any> => bench.control("GET", "/openapi.json");

test("the OpenAPI document has the facts of the file", async () => {
  const { paths, webhooks, components } = await documentOf(await openAs(facts));
  const decline = paths["/hospitality/bookings/{id}/decline"].post;
  expect(Object.keys(decline.responses)).toEqual(expect.arrayContaining(["202", "404", "422"]));
  expect(Object.keys(decline.responses)).not.toContain("200");
  expect(Object.keys(decline.responses["202"].headers)).toEqual(expect.arrayContaining(["X-Limit", "RateLimit-Reset"]));
  expect(Object.keys(decline.responses["202"].headers)).not.toContain("RateLimit-Remaining");
  expect(decline["x-sandbox-emits"][0].event).toBe("booking.rejected");
  expect(decline.responses["422"].content["application/json"].examples.wrong_state.value).toEqual({
    error: { error: "conflict", message: expect.any(String), code: "wrong_state", details: { requestId: "req_1" } },
  });
  expect(components.parameters["X-Request-Key"]).toMatchObject({ in: "header" });
  expect(components.parameters["Idempotency-Key"]).toBeUndefined();
  expect(paths["/webhooks/{id}"].delete.responses["204"].content).toBeUndefined();
  expect(webhooks["booking.rejected"].post.parameters).toContainEqual({ $ref: "#/components/parameters/X-Sig" });
  expect(webhooks["booking.declined"]).toBeUndefined();
});

test("the document of a list has its parameters, envelope, fields and examples", async () => {
  const { paths, components } = await documentOf(await openAs(facts));
  const { parameters, responses } = paths["/payments"].get;
  expect(parameters.find(({ name }: { name: string }) => name === "page_size").schema.maximum).toBe(50);
  expect(parameters.find(({ name }: { name: string }) => name === "limit")).toBeUndefined();
  expect(responses["418"].description).toContain("invalid_limit");
  const { schema, example } = responses["200"].content["application/json"];
  const list = components.schemas[schema.$ref.split("/").at(-1)];
  expect([Object.keys(list.properties), Object.keys(example)]).toEqual([
    ["object", "items", "has_more"],
    ["object", "items", "has_more"],
  ]);
  const payment = Object.keys(components.schemas.Payment.properties);
  expect([payment.includes("customer"), payment.includes("customerId")]).toEqual([true, false]);
  expect(Object.keys(example.items[0])).toContain("customer");
});

test("the list of facts says which are recorded, and the document marks them no longer as assumed", async () => {
  const bench = await openAs({ "bookings.decline.status": 202, "payments.list/error.invalid_limit.status": 418 });
  const { facts: listed, total } = await bench.control("GET", "/assumptions");
  const plain = await (await openAs({})).control("GET", "/assumptions");
  expect(listed).toContainEqual({ id: "bookings.decline.status", kind: "success_status", value: 202, origin: "recorded" });
  expect(listed).toContainEqual({ id: "payments.list/error.invalid_limit.status", kind: "error_status", value: 418, origin: "recorded" });
  expect(plain.total - total).toBe(1);
  const { paths } = await documentOf(bench);
  expect(paths["/hospitality/bookings/{id}/decline"].post.responses["202"]["x-sandbox-assumed"]).toBeUndefined();
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
