// Which writes the judge attributes to which webhook deliveries. The tests set exact times, and some writes are late,
// as on a busy machine.

import { expect, test } from "vitest";
import { describeCall } from "../../src/judge/observed-call.ts";
import { createReceivers } from "../../src/judge/receivers.ts";
import type { RepeatDelivery } from "../../src/judge/rules/rule.ts";
import { webhookSingleEffect } from "../../src/judge/rules/webhook.ts";
import { attemptMessage, firing, operations, writeEntry } from "../support/judge-inputs.ts";

type Step = "delivery" | "write" | "lost write";

/**
 * Observed receivers, the verdicts on deliveries that repeat an event, and the times at which a verdict is due.
 * `traffic.isDelivering` says whether a delivery is in flight.
 */
function watched() {
  const found: (string | undefined)[] = [];
  const due: number[] = [];
  const traffic = { isDelivering: false };
  const verdictOn = (repeat: RepeatDelivery) => webhookSingleEffect.onRepeatDelivery?.(repeat)?.verdict;
  const receivers = createReceivers({
    onDelivery: () => {},
    onRepeatDelivery(repeat, reported) {
      const verdict = verdictOn(repeat);
      found.push(reported === undefined ? verdict : `${reported} is ${verdict}`);
      return `vdt_${found.length}`;
    },
    isFailure: (repeat) => verdictOn(repeat) === "fail",
    needsCount: (repeat) => verdictOn({ ...repeat, counted: undefined }) === "inconclusive",
    isDelivering: () => traffic.isDelivering,
    onAttributed: () => {},
    onDue: (at) => void due.push(at),
  });
  return { receivers, found, due, traffic };
}

/**
 * The verdicts on the deliveries of one event, when its receiver sends equal writes with different keys. `steps` is the
 * order of deliveries and writes.
 */
function verdictsOn(steps: readonly Step[]) {
  const { receivers, found } = watched();
  for (const [index, step] of steps.entries()) {
    const at = 1e9 + index * 300;
    if (step === "delivery") receivers.observe(attemptMessage({ id: `whd_${index}` }), [], at, at + 5, []);
    else {
      const entry = writeEntry(index * 300, 200, `evt_1_${index}`);
      receivers.observeWrite(describeCall(entry, step === "write" ? [] : [firing({})], operations[1]));
    }
  }
  receivers.conclude();
  return found;
}

test("a write that does not name the event gives no pass, because another client may have sent it", () => {
  const { receivers, found } = watched();
  receivers.observe(attemptMessage({ id: "whd_1" }), [], 1e9, 1e9 + 5, []);
  receivers.observeWrite(describeCall(writeEntry(20, 200, "key_1"), [], operations[1]));
  receivers.observe(attemptMessage({ id: "whd_2" }), [], 1e9 + 300, 1e9 + 305, []);
  receivers.conclude();
  expect(found).toEqual(["inconclusive"]);
});

test.each<[string, Step[], string[]]>([
  ["acts once", ["delivery", "write", "delivery", "delivery"], ["pass", "pass"]],
  ["acts each time", ["delivery", "write", "delivery", "write", "delivery", "write"], ["fail", "fail"]],
  [
    "acts each time, but late",
    ["delivery", "delivery", "write", "delivery", "write", "write"],
    ["inconclusive", "fail"],
  ],
  ["acts once, but late", ["delivery", "delivery", "write", "delivery"], ["inconclusive", "pass"]],
  ["acts twice, or retries its lost write", ["delivery", "lost write", "delivery", "write"], ["inconclusive"]],
  [
    "acts each time, but loses the first response",
    ["delivery", "lost write", "delivery", "write", "delivery", "write"],
    ["inconclusive", "fail"],
  ],
  ["writes nothing", ["delivery", "delivery", "delivery"], ["inconclusive", "inconclusive"]],
])("a receiver that %s, seen as %j, gets the verdicts %j", (_, steps, verdicts) => {
  expect(verdictsOn(steps)).toEqual(verdicts);
});

/** A write that arrives at this time, and is answered after `duration`. */
const write = (at: number, key: string, duration = 0) =>
  describeCall(writeEntry(at, 200, key, { duration }), [], operations[1]);

/** Observes two deliveries of one event, the second recorded at 105 ms, and a write of the first. */
function deliveredTwice() {
  const watching = watched();
  watching.receivers.observe(attemptMessage({ id: "whd_1" }), [], 1e9, 1e9 + 5, []);
  watching.receivers.observeWrite(write(10, "evt_1_first"));
  watching.receivers.observe(attemptMessage({ id: "whd_2" }), [], 1e9 + 100, 1e9 + 105, []);
  return watching;
}

test("the verdict on a repeated delivery without a second write is reported 3 s after that delivery", () => {
  const { receivers, found, due } = deliveredTwice();
  expect([due, receivers.nextDue()]).toEqual([[1e9 + 3_105], 1e9 + 3_105]);
  receivers.resolve(1e9 + 3_105);
  expect(found).toEqual([]);
  receivers.resolve(1e9 + 3_106);
  expect([found, receivers.nextDue()]).toEqual([["pass"], Infinity]);
});

test("a second equal write is reported 50 ms later, or 50 ms after a delivery that may have caused it", () => {
  const { receivers, found, due, traffic } = deliveredTwice();
  traffic.isDelivering = true;
  receivers.observeWrite(write(110, "evt_1_second"));
  expect(due.at(-1)).toBe(1e9 + 160);
  receivers.resolve(1e9 + 160);
  expect(found).toEqual([]);
  receivers.observe(attemptMessage({ id: "whd_3", eventId: "evt_2" }), [], 1e9 + 180, 1e9 + 200, []);
  traffic.isDelivering = false;
  expect(due.at(-1)).toBe(1e9 + 250);
  receivers.resolve(1e9 + 250);
  expect(found).toEqual(["fail"]);
});

test.each([
  ["fail", "evt_1"],
  ["inconclusive", "evt_2"],
])(
  "equal writes during a failed delivery of evt_1 and its retry get the verdict %s beside one of %s",
  (verdict, eventId) => {
    const { receivers, found } = watched();
    const failed = { status: "failed", responseStatus: 500 } as const;
    const [first, second] = [write(10, "evt_1_first"), write(210, "evt_1_second")];
    receivers.observe(attemptMessage({ id: "whd_1", ...failed }), [], 1e9, 1e9 + 20, [first]);
    receivers.observe(attemptMessage({ id: "whd_2", endpointId: "we_2", eventId }), [], 1e9 - 5, 1e9 + 30, [first]);
    receivers.observe(attemptMessage({ id: "whd_3" }), [], 1e9 + 200, 1e9 + 220, [second]);
    receivers.conclude();
    expect(found).toEqual([verdict]);
  },
);

test("a write after a failed delivery does not count as an effect of the delivery", () => {
  const { receivers, found } = watched();
  receivers.observe(attemptMessage({ id: "whd_1", status: "failed", responseStatus: 500 }), [], 1e9, 1e9 + 20, []);
  receivers.observeWrite(write(30, "evt_1_first"));
  receivers.observe(attemptMessage({ id: "whd_2" }), [], 1e9 + 200, 1e9 + 220, []);
  receivers.observeWrite(write(230, "evt_1_second"));
  receivers.conclude();
  expect(found).toEqual([undefined]);
});

test("a second write whose response comes after the verdict was reported revises the verdict", () => {
  const { receivers, found } = deliveredTwice();
  receivers.resolve(1e9 + 3_200);
  receivers.observeWrite(write(110, "evt_1_second", 5_000));
  expect(found).toEqual(["pass", "vdt_1 is fail"]);
});

test("a write during a later delivery, which is recorded late, does not count for the earlier repeat", () => {
  const { receivers, found } = watched();
  const [first, second] = [write(10, "evt_1_first"), write(310, "evt_1_second")];
  receivers.observe(attemptMessage({ id: "whd_1" }), [], 1e9, 1e9 + 5, []);
  receivers.observeWrite(first);
  receivers.observe(attemptMessage({ id: "whd_2" }), [], 1e9 + 100, 1e9 + 105, []);
  receivers.observeWrite(second);
  receivers.observe(attemptMessage({ id: "whd_3", eventId: "evt_2" }), [], 1e9 + 300, 1e9 + 4_000, [second]);
  expect(found).toEqual(["pass"]);
});

test("a count decides final verdicts too, and a count that fails takes that back", () => {
  const { receivers, found } = watched();
  for (const at of [1e9, 1e9 + 300]) receivers.observe(attemptMessage({ id: `whd_${at}` }), [], at, at + 5, []);
  receivers.expire(2e9);
  const { eventId } = attemptMessage({});
  for (const [event, shown] of [
    ["evt_other", "once"],
    [eventId, "once"],
    [eventId, "once"],
    [eventId, undefined],
  ] as const)
    receivers.counted(new Set([event]), shown);
  expect(found).toEqual(["inconclusive", "vdt_1 is pass", "vdt_2 is inconclusive"]);
});
