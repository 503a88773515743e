// Webhooks under a service file: names of event types and headers, the form of the signature, and the retry schedule.

import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type Bench, openAs } from "../support/sandbox.ts";
import { type Arrival, receive } from "../support/webhooks.ts";

const DECLINED = { "event.type.values.booking.declined": "BOOKING:rejected" };

interface Subscribed {
  secret: string;
  arrivals: Promise<Arrival[]>;
  id: string;
}

/** Declines a booking; the deliveries arrive at a receiver that subscribes to these types. */
async function decline(bench: Bench, events: string[], answers: number[] = []): Promise<Subscribed> {
  const receiver = await receive();
  receiver.script(...answers);
  const { body } = await bench.call("POST", "/v1/webhooks", { body: { url: receiver.url, events } });
  expect(body.events).toEqual(events);
  await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline");
  return { secret: body.secret, arrivals: receiver.arrived(1), id: body.id };
}

describe("event types", () => {
  test("have the names of the file in subscriptions, events and the log", async () => {
    const bench = await openAs(DECLINED);
    const { arrivals } = await decline(bench, ["BOOKING:rejected"]);
    const [arrival] = await arrivals;
    expect([arrival?.event.type, arrival?.headers["x-webhook-event"]]).toEqual([
      "BOOKING:rejected",
      "BOOKING:rejected",
    ]);
    await bench.control("POST", "/drain");
    const log = await bench.call("GET", "/v1/webhook-deliveries?type=BOOKING:rejected");
    expect(log.body.data).toMatchObject([{ eventType: "BOOKING:rejected", requestBody: arrival?.body.toString() }]);
    expect((await bench.call("GET", "/v1/webhooks")).body.data).toMatchObject([{ events: ["BOOKING:rejected"] }]);
    expect((await bench.control("GET", "/events?type=booking.declined")).data).toHaveLength(1);
  });

  test("lose their own names, and a subscription to one says so", async () => {
    const bench = await openAs({ "event.type.values.booking.declined": "booking.rejected" });
    const { body, headers } = await bench.call("POST", "/v1/webhooks", {
      body: { url: "http://localhost:3000/webhooks", events: ["booking.declined"] },
    });
    expect([body.events, headers["x-sandbox-warning"]]).toEqual([
      ["booking.declined"],
      expect.stringContaining("The sandbox never sends booking.declined."),
    ]);
    await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline");
    expect((await bench.call("GET", "/v1/webhook-deliveries")).body.data).toEqual([]);
  });
});

describe("signatures", () => {
  test("have the form of the file, and an explanation knows it", async () => {
    const bench = await openAs({
      "webhook.signature.key":
        "base64 digest of the id and body, keyed with the secret without its prefix, decoded from hex",
    });
    const { arrivals, secret, id } = await decline(bench, ["booking.declined"]);
    const [arrival] = await arrivals;
    const body = arrival?.body.toString() ?? "";
    const key = Buffer.from(secret.replace("whsec_", ""), "hex");
    const digest = createHmac("sha256", key).update(`${arrival?.headers["x-webhook-id"]}.${body}`).digest("base64");
    expect(arrival?.headers["x-webhook-signature"]).toBe(digest);
    const explained = (signature: string) =>
      bench.control("POST", "/signature/explain", { endpoint: id, body, signature });
    expect((await explained(digest)).matches).toBe(true);
    expect(await explained("00")).toMatchObject({
      matches: false,
      explanation: expect.stringContaining("base64 digest of the id and body"),
    });
  });

  test("and ids come in the headers of the file", async () => {
    const bench = await openAs({
      "webhook.header.X-Webhook-Signature.name": "X-Sig",
      "webhook.header.X-Webhook-Event": "absent",
    });
    const { arrivals, secret } = await decline(bench, ["booking.declined"]);
    const { headers, body } = (await arrivals)[0] as Arrival;
    expect(headers["x-sig"]).toBe(createHmac("sha256", secret).update(body).digest("hex"));
    expect(Object.keys(headers)).not.toContain("x-webhook-signature");
    expect(Object.keys(headers)).not.toContain("x-webhook-event");
  });
});

test("retries follow the schedule of the file, as far as it goes", async () => {
  const bench = await openAs({
    "webhook.schedule.1": 60,
    "webhook.schedule.2": 600,
    "webhook.schedule.3": "no attempt",
  });
  await decline(bench, ["booking.declined"], [500, 500, 500]);
  await bench.control("POST", "/clock/advance", { by: "1h" });
  const { data } = (await bench.call("GET", "/v1/webhook-deliveries")).body;
  const started: number[] = data.map(({ created }: { created: number }) => created).toReversed();
  expect(started.map((time) => time - (started[0] ?? 0))).toEqual([0, 60, 660]);
  const own = await openAs({ "webhook.schedule.1": 60 }, { retrySchedule: "fast" });
  await decline(own, ["booking.declined"], [500, 200]);
  await own.control("POST", "/clock/advance", { by: "2s" });
  expect((await own.call("GET", "/v1/webhook-deliveries")).body.data).toHaveLength(2);
});
