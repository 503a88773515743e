// A service file: the statuses of successes, and the status, category and code of errors, as the file has them.

import { describe, expect, test } from "vitest";
import { openAs } from "../support/service-file.ts";

const PRICING_RULE = { name: "Weekend", type: "percentage", value: 1_000 };

describe("successes", () => {
  test("have the status of the file, for the operation that it names", async () => {
    const bench = await openAs({ "bookings.decline.status": 202 });
    const declined = await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline");
    expect([declined.status, declined.body.status]).toEqual([202, "declined"]);
    expect((await bench.call("GET", "/v1/payments")).status).toBe(200);
  });

  test("a replay has the status of the first response", async () => {
    const bench = await openAs({ "bookings.decline.status": { value: 202, seen: 3, in: ["shop.har#1"] } });
    const decline = () => bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { headers: { "idempotency-key": "one" } });
    await decline();
    expect(await decline()).toMatchObject({ status: 202, headers: { "idempotent-replayed": "true" } });
  });

  test("a 204 has no body", async () => {
    const bench = await openAs({ "webhooks.delete.status": 204 });
    const { body } = await bench.call("POST", "/v1/webhooks", { body: { url: "http://localhost:3000/webhooks", events: ["*"] } });
    const { status, text, headers } = await bench.call("DELETE", `/v1/webhooks/${body.id}`);
    expect([status, text, headers["content-length"], headers["content-type"]]).toEqual([204, "", undefined, undefined]);
    expect((await bench.call("GET", "/v1/webhooks")).body.data).toEqual([]);
  });
});

describe("errors", () => {
  test("have the status, category and code of the file", async () => {
    const bench = await openAs({
      "error.resource_not_found.status": 410,
      "error.resource_not_found.category": "gone",
      "error.resource_not_found.code": "E_NOT_FOUND",
    });
    const { status, body } = await bench.call("POST", "/v1/hospitality/bookings/bkg_none/decline");
    expect([status, body.error, body.code]).toEqual([410, "gone", "E_NOT_FOUND"]);
    expect(body).toMatchObject({ message: expect.stringContaining("bkg_none"), details: { requestId: expect.any(String) } });
  });

  test("an entry for one operation takes precedence over the common one", async () => {
    const bench = await openAs({
      "error.validation_failed.status": 422,
      "webhooks.create/error.validation_failed.status": 418,
    });
    expect((await bench.call("POST", "/v1/hospitality/pricing-rules", { body: { ...PRICING_RULE, name: 1 } })).status).toBe(422);
    expect((await bench.call("POST", "/v1/webhooks", { body: {} })).status).toBe(418);
  });

  test("a replay of a stored error has them too, and so has an error of a fault", async () => {
    const bench = await openAs({ "error.invalid_state.status": 422, "error.invalid_state.code": "wrong_state" });
    const decline = (headers = {}) => bench.call("POST", "/v1/hospitality/bookings/bkg_declined/decline", { headers });
    await decline({ "idempotency-key": "one" });
    const replayed = await decline({ "idempotency-key": "one" });
    expect([replayed.status, replayed.body.code, replayed.headers["idempotent-replayed"]]).toEqual([422, "wrong_state", "true"]);
    const injected = await decline({ "x-sandbox-inject": "status=409" });
    expect([injected.status, injected.body.code]).toEqual([422, "wrong_state"]);
  });
});
