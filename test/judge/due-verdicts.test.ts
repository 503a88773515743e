// Verdicts that are due later than the call or delivery that they are about: they reach the live stream without a
// reader.

import { expect, test } from "vitest";
import type { VerdictMessage } from "../../src/contracts/verdict.ts";
import { type Bench, open } from "../support/sandbox.ts";
import { deliver, type Receiver, receive, register, settle } from "../support/webhooks.ts";

/** The receiver creates a record for each delivery, under a key of its own, before it responds. */
const actOnEach = (bench: Bench, receiver: Receiver, statusOf: (delivery: number) => number = () => 200) =>
  receiver.always((_, outgoing) => {
    const status = statusOf(receiver.arrivals.length);
    void bench
      .call("POST", "/v1/hospitality/pricing-rules", {
        body: { name: "Low season", adjustmentType: "fixed", adjustmentValue: 5 },
        headers: { "idempotency-key": crypto.randomUUID() },
      })
      .then(() => outgoing.writeHead(status).end());
  });

/** The next final verdict of the rule, as the live stream gets it. */
const published = (bench: Bench, rule: string) =>
  new Promise<VerdictMessage>((resolve) => {
    bench.onHappening((event) => {
      if (event.kind === "verdict" && event.verdict.rule === rule) resolve(event.verdict);
    });
  });

test("a receiver that acts twice is reported at once, without a reader, and every reader gets that verdict", async () => {
  const bench = await open();
  const receiver = await receive();
  await register(bench, receiver.url, ["payment.succeeded"]);
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
