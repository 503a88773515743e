// Parallel tests: with a merchant of the same name, a test gets the same bytes in any order, on any number of workers
// and beside any other traffic.

import { describe, expect, test } from "vitest";
import { ownMerchant } from "../../src/client/test-merchant.ts";
import { connect } from "../../src/index.ts";
import { type Bench, open } from "../support/sandbox.ts";
import { type Receiver, receive, settle } from "../support/webhooks.ts";

type Caller = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<unknown>;

const NAMES = Array.from({ length: 9 }, (_, index) => `shop.test.ts > pays ${index}`);

/** The bytes that the client and the receiver of one test got. */
async function bytesOf(bench: Bench, receiver: Receiver, name: string): Promise<string> {
  const sandbox = connect(bench.url);
  const merchant = await ownMerchant(sandbox, { name });
  const bytes = [`${merchant.id} ${merchant.apiKey}`];
  const say: Caller = async (method, path, body, headers = {}) => {
    const {
      status,
      rawHeaders,
      text,
      body: reply,
    } = await bench.call(method, path, {
      key: merchant.apiKey,
      ...(body === undefined ? {} : { body: body as object }),
      headers,
    });
    bytes.push(`${method} ${path} ${status} ${rawHeaders.join("|")} ${text}`);
    return reply;
  };
  await say("POST", "/v1/webhooks", { url: `${receiver.url}?${merchant.id}`, events: ["*"] });
  await sandbox.scenarios.start({ name: "rate-limit-burst", merchant: merchant.id });
  const { id } = await merchant.faults.add({
    match: { operation: "payouts.list" },
    trigger: { probability: 0.5 },
    action: { type: "status", status: 503 },
  });
  bytes.push(id);
  for (let count = 0; count < 12; count++) await say("GET", "/v1/payouts?limit=1");
  for (let count = 0; count < 4; count++) await say("GET", "/v1/payments?limit=1");
  await say("POST", "/v1/hospitality/bookings/bkg_pending/decline", { reason: "full" }, { "idempotency-key": "once" });
  await say("POST", "/v1/hospitality/bookings/bkg_pending/decline", { reason: "late" }, { "idempotency-key": "once" });
  await say("GET", "/v1/customers/cus_unknown");
  await say("POST", "/v1/employees/payroll", {});
  await settle(bench);
  bytes.push(JSON.stringify(await merchant.events()));
  await merchant.remove();
  const delivered = receiver.arrivals.filter(({ url }) => url?.endsWith(merchant.id));
  return [...bytes, ...delivered.map(({ rawHeaders, body }) => `${rawHeaders.join("|")} ${body}`)].join("\n");
}

/** Runs all tests in this order, on this many workers. */
async function run(bench: Bench, receiver: Receiver, order: readonly string[], workers: number) {
  const waiting = [...order];
  const found = new Map<string, string>();
  const work = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift())
      found.set(name, await bytesOf(bench, receiver, name));
  };
  await Promise.all(Array.from({ length: workers }, work));
  return found;
}

describe("named merchants", () => {
  test("get the same bytes on one worker as on three, in any order", async () => {
    const receiver = await receive();
    const alone = await run(await open(), receiver, NAMES, 1);
    const bench = await open();
    for (const order of [NAMES.toReversed(), [...NAMES.slice(4), ...NAMES.slice(0, 4)]]) {
      await bench.merchants.add();
      await bench.call("GET", "/v1/payments");
      await bench.faults.add({ match: { merchant: "mer_market" }, action: { type: "status", status: 500 } });
      receiver.arrivals.splice(0);
      const beside = await run(bench, receiver, order, 3);
      for (const name of NAMES) expect(beside.get(name)).toBe(alone.get(name));
    }
    expect(new Set(alone.values()).size).toBe(NAMES.length);
    expect(alone.get(NAMES[0] as string)).toMatch(/ 503 [\s\S]* 200 [\s\S]*"requestId":"req_\w{12}_\d+"/);
  });

  test("get another id if their name is in use, and the first id again after its merchant is removed", async () => {
    const bench = await open();
    const [first, second] = [await ownMerchant(bench, { name: "one" }), await ownMerchant(bench, { name: "one" })];
    expect(second.id).not.toBe(first.id);
    expect((await ownMerchant(bench, { name: "one #3" })).id).not.toBe(second.id);
    await bench.call("GET", "/v1/payments", { key: first.apiKey });
    await first.remove();
    expect(await first.requests()).toHaveLength(1);
    const again = await ownMerchant(bench, { name: "one" });
    expect([again.id, again.apiKey, await again.requests()]).toEqual([first.id, first.apiKey, []]);
    expect((await bench.call("GET", "/v1/payments", { key: again.apiKey })).headers["x-sandbox-request-id"]).toBe(
      `req_${first.id.slice("mer_".length)}_1`,
    );
  });

  test("the random choices of a rule for all merchants depend only on each merchant's own calls", async () => {
    const statuses = async (other: boolean) => {
      const bench = await open();
      await bench.faults.add({ trigger: { probability: 0.5 }, action: { type: "status", status: 503 } });
      const found: number[] = [];
      for (let count = 0; count < 20; count++) {
        if (other) await bench.call("GET", "/v1/payments", { key: "sk_test_market" });
        found.push((await bench.call("GET", "/v1/payments")).status);
      }
      return found;
    };
    const alone = await statuses(false);
    expect(await statuses(true)).toEqual(alone);
    expect(new Set(alone)).toEqual(new Set([200, 503]));
  });
});
