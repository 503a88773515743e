// The writes that the judge attributes to webhook deliveries, at exact times: also late ones, as on a busy machine.

import { expect, test } from "vitest";
import { describeCall } from "../../src/judge/observed-call.ts";
import { createReceivers } from "../../src/judge/receivers.ts";
import { webhookSingleEffect } from "../../src/judge/rules/webhook.ts";
import { attemptMessage, operations, writeEntry } from "../support/judge-inputs.ts";

type Step = "delivery" | "write";

/** Receivers, and the verdicts on the deliveries that repeat an event. */
function watched() {
  const found: (string | undefined)[] = [];
  const receivers = createReceivers({
    onDelivery: () => {},
    onRepeatDelivery: (repeat) => void found.push(webhookSingleEffect.onRepeatDelivery?.(repeat)?.verdict),
  });
  return { receivers, found };
}

/**
 * The verdicts on deliveries of one event and equal writes of its receiver, each under a key of its own, in the given
 * order.
 */
function verdictsOn(steps: readonly Step[]) {
  const { receivers, found } = watched();
  for (const [index, step] of steps.entries()) {
    const at = 1e9 + index * 300;
    if (step === "delivery") receivers.observe(attemptMessage({ id: `whd_${index}` }), [], at, at + 5, []);
    else receivers.observeWrite(describeCall(writeEntry(index * 300, 200, `key_${index}`), [], operations[1]));
  }
  receivers.conclude();
  return found;
}

test.each<[string, Step[], string[]]>([
  ["acts once", ["delivery", "write", "delivery", "delivery"], ["pass", "pass"]],
  ["acts each time", ["delivery", "write", "delivery", "write", "delivery", "write"], ["fail", "fail"]],
  ["acts each time, late", ["delivery", "delivery", "write", "delivery", "write", "write"], ["inconclusive", "fail"]],
  ["acts once, late", ["delivery", "delivery", "write", "delivery"], ["inconclusive", "pass"]],
  ["writes nothing", ["delivery", "delivery", "delivery"], ["inconclusive", "inconclusive"]],
])("a receiver that %s: %j is %j", (_, steps, verdicts) => {
  expect(verdictsOn(steps)).toEqual(verdicts);
});

test("a write during a delivery that is recorded late is no effect of the repeat before it, whose time is over by then", () => {
  const { receivers, found } = watched();
  const write = (at: number, key: string) => describeCall(writeEntry(at, 200, key), [], operations[1]);
  const [first, second] = [write(10, "key_1"), write(310, "key_2")];
  receivers.observe(attemptMessage({ id: "whd_1" }), [], 1e9, 1e9 + 5, []);
  receivers.observeWrite(first);
  receivers.observe(attemptMessage({ id: "whd_2" }), [], 1e9 + 100, 1e9 + 105, []);
  receivers.observeWrite(second);
  receivers.observe(attemptMessage({ id: "whd_3", eventId: "evt_2" }), [], 1e9 + 300, 1e9 + 4_000, [second]);
  expect(found).toEqual(["pass"]);
});
