// When verdicts are published: on the live stream when they are due, even if no client reads them.

import { describe, expect, test } from "vitest";
import { verdictText } from "../../src/cli/output/event-lines.ts";
import type { VerdictMessage } from "../../src/contracts/verdict.ts";
import { type Bench, open } from "../support/sandbox.ts";
import { advance, deliver, openRegistered, type Receiver, settle } from "../support/webhooks.ts";

const createRecord = (bench: Bench, key: string) =>
  bench.call("POST", "/v1/hospitality/pricing-rules", {
    body: { name: "Low season", adjustmentType: "fixed", adjustmentValue: 5 },
    headers: { "idempotency-key": key },
  });

/** Makes the receiver create a record for each delivery, with a new Idempotency-Key, before it accepts the delivery. */
const actOnEach = (bench: Bench, receiver: Receiver) =>
  receiver.always((_, outgoing) => {
    void createRecord(bench, crypto.randomUUID()).then(() => outgoing.writeHead(200).end());
  });

/** The next final verdict of the rule on the live stream. */
const published = (bench: Bench, rule: string) =>
  new Promise<VerdictMessage>((resolve) => {
    bench.onLiveEvent((event) => {
      if (event.kind === "verdict" && event.verdict.rule === rule) resolve(event.verdict);
    });
  });

test("a receiver that acts twice is reported once, before any client reads the verdicts", async () => {
  const { bench, receiver } = await openRegistered({}, ["payment.succeeded"]);
  const verdict = published(bench, "webhook.single_effect");
  actOnEach(bench, receiver);
  const event = await deliver(bench);
  await bench.control("POST", `/events/${event}/replay`);
  await settle(bench);
  const settled = performance.now();
  expect(await verdict).toMatchObject({ verdict: "fail", id: expect.any(String) });
  expect(performance.now() - settled).toBeLessThan(2_500);
  const { data } = await bench.control("GET", "/verdicts?rule=webhook.single_effect");
  expect(data).toEqual([{ ...(await verdict), at: data[0].at }]);
});

test("a receiver that makes no calls gets no final verdict, and the hint says how to count its effects", async () => {
  const { bench } = await openRegistered({}, ["payment.succeeded"]);
  const event = await deliver(bench);
  await bench.control("POST", `/events/${event}/replay`);
  await settle(bench);
  const { data } = await bench.control("GET", "/verdicts?rule=webhook.single_effect");
  expect(data).toMatchObject([
    { verdict: "inconclusive", hint: expect.stringMatching(/^Count what the receiver does: .* audit <url> --effects/) },
  ]);
  expect(verdictText({ ...data[0], at: 0 })).toContain(" webhook.single_effect mer_lodge not-final whd_");
});

test("verdicts are listed in the order of the calls, not of the decisions", async () => {
  const bench = await open();
  const advance = (by: string) => bench.control("POST", "/clock/advance", { by });
  await bench.faults.add({
    match: { operation: "payments.list" },
    trigger: { times: 1 },
    action: { type: "status", status: 503 },
  });
  await bench.call("GET", "/v1/payments");
  await advance("2s");
  await bench.call("GET", "/v1/payouts/po_nothing");
  await advance("10s");
  await bench.call("GET", "/v1/payments");
  // retry.bounded is decided last, although its verdict is about the first call.
  await advance("1h");
  const { data } = await bench.control("GET", "/verdicts");
  expect(data.map(({ id, rule }: { id: string; rule: string }) => `${id} ${rule}`)).toEqual([
    "vdt_2 retry.happened",
    "vdt_1 retry.only_retryable",
    "vdt_3 retry.bounded",
  ]);
});

describe("a receiver that gets an event again because its response was an error", () => {
  /**
   * The verdicts on a receiver that responds with these statuses in turn. For each delivery, it creates a record if the
   * delivery's entry in `acts` is true.
   */
  async function verdictsOn(
    statuses: readonly number[],
    acts: readonly boolean[],
    keyOf = (event: string) => `${event}_${crypto.randomUUID()}`,
  ) {
    const { bench, receiver } = await openRegistered({}, ["payment.succeeded"]);
    const place = () => receiver.arrivals.length - 1;
    receiver.always(({ event }, outgoing) => {
      const [status = 200, isActing] = [statuses[place()], acts[place()]];
      const acted = isActing ? createRecord(bench, keyOf(event.id)) : Promise.resolve();
      void acted.then(() => outgoing.writeHead(status).end());
    });
    await deliver(bench);
    for (let retry = 1; retry < statuses.length; retry++) await advance(bench, "1d");
    expect(receiver.arrivals).toHaveLength(statuses.length);
    const { data } = await bench.control("GET", "/verdicts?rule=webhook.single_effect");
    return data.map(({ verdict, message }: VerdictMessage) => `${verdict}: ${message}`);
  }

  test("fails if both deliveries created a record", async () => {
    const verdicts = await verdictsOn([500, 200], [true, true]);
    expect(verdicts).toEqual([
      expect.stringMatching(/^fail: .* followed whd_\w+, which got a 500; .* did the same again/),
    ]);
  });

  test("fails even if the response to the retry was an error too", async () => {
    const verdicts = await verdictsOn([500, 500, 200], [true, true, false]);
    expect(verdicts.map((verdict: string) => verdict.split(":")[0])).toEqual(["pass", "fail"]);
  });

  test("passes if it creates nothing for the retry, or uses the same Idempotency-Key", async () => {
    expect(await verdictsOn([500, 200], [true, false])).toEqual([expect.stringMatching(/^pass: /)]);
    expect(await verdictsOn([500, 200], [true, true], (event) => event)).toEqual([expect.stringMatching(/^pass: /)]);
  });

  test("has no verdict if only the retry created a record", async () => {
    expect(await verdictsOn([500, 200], [false, true])).toEqual([]);
  });
});

describe("a client that never retries", () => {
  const limit = (bench: Bench) =>
    bench.control("POST", "/faults", {
      match: { operation: "payments.list" },
      action: { type: "status", status: 429, retryAfter: "zero" },
    });

  test("is reported when its deadline passes, without another call and before any verdict is read", async () => {
    const bench = await open();
    const verdict = published(bench, "retry.happened");
    await limit(bench);
    await bench.call("GET", "/v1/payments");
    // The deadline is twice the Retry-After plus two seconds, in real time.
    expect(await verdict).toMatchObject({ verdict: "fail", id: expect.any(String) });
  });

  test("is reported when the clock passes its deadline; a late retry turns the verdict into a pass", async () => {
    const bench = await open();
    const verdict = published(bench, "retry.happened");
    await limit(bench);
    await bench.call("GET", "/v1/payments");
    await advance(bench, "1m");
    const { id } = await verdict;
    expect(await verdict).toMatchObject({
      verdict: "fail",
      message: expect.stringContaining("was not retried in time"),
    });
    await bench.call("GET", "/v1/payments");
    const { data } = await bench.control("GET", "/verdicts?rule=retry.happened");
    expect(data).toMatchObject([{ id, verdict: "pass" }]);
  });
});

test("the hint on a 401 to a genuine event says to check the secret first, then the raw bytes", async () => {
  const { bench, receiver } = await openRegistered({}, ["payment.succeeded"]);
  receiver.always(401);
  await deliver(bench);
  const { data } = await bench.control("GET", "/verdicts?rule=webhook.genuine_taken");
  expect(data[0].verdict).toBe("fail");
  expect(data[0].hint).toMatch(
    /^Check the secret first: .* the signature is that of the parsed and re-serialised body: verify the raw bytes\. .*express\.raw/,
  );
});
