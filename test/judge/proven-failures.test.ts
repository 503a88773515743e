// A failure that calls have proved never becomes a pass, whatever call follows. It becomes inconclusive only if a later
// call shows that another caller may have sent some of the calls that proved the failure.

import { describe, expect, test } from "vitest";
import type { VerdictMessage } from "../../src/contracts/verdict.ts";
import { createRandom, type Draws, drawsOf } from "../../src/kernel/random.ts";
import type { RequestEntry } from "../../src/store/request-log/request-log.ts";
import { judge, recordedAttempt, requestEntry, wait, writeEntry } from "../support/judge-inputs.ts";
import { open } from "../support/sandbox.ts";
import { firingOf, type Observed } from "./behaviours.ts";

const judged = (...calls: Observed[]) => {
  const made = judge();
  const observe = (observed: Observed) => {
    const fired = firingOf(observed);
    if (fired) made.fired(fired);
    made.request(observed.entry);
  };
  calls.forEach(observe);
  const verdictOf = (id: string | null | undefined) => made.verdicts().find((found) => found.id === id);
  return { ...made, observe, verdictOf };
};

const seen = (entry: RequestEntry): Observed => ({ entry });
const lost = (at: number, key: string | undefined, rest: Partial<RequestEntry> = {}): Observed => ({
  entry: writeEntry(at, 200, key, { responseHeaders: {}, ...rest }),
  outcome: "response_lost",
});
const replay = (at: number, key: string) => seen(writeEntry(at, 200, key, { replayOf: "req_1" }));
const lostReplay = (at: number, key: string) => lost(at, key, { replayOf: "req_1" });

const idsOf = (found: readonly VerdictMessage[]) => Object.fromEntries(found.map(({ rule, id }) => [rule, id]));

describe("a client that repeated a lost write without its key has still failed after", () => {
  test.each<[string, Observed[]]>([
    ["a run of the fixed client, whose first try is lost too", [lostReplay(3_000, "a"), replay(3_200, "a")]],
    ["a run of the fixed client that gets the first response", [replay(3_000, "a")]],
    ["the next run of a job with a fixed key", [replay(60_000, "a")]],
    ["the next run, which makes the same mistake", [lostReplay(3_000, "a"), seen(writeEntry(3_200, 200, undefined))]],
    ["a rejected call with the key", [seen(writeEntry(3_000, 422, "a"))]],
  ])("%s", (_, later) => {
    const { observe, verdicts, verdictOf } = judged(lost(0, "a"), seen(writeEntry(200, 200, undefined)));
    const failed = verdicts({ verdict: "fail" });
    expect(failed.map(({ rule }) => rule).sort()).toEqual(["effect.single", "idempotency.key_reused"]);
    later.forEach(observe);
    expect(failed.map(({ id }) => verdictOf(id))).toEqual(failed);
  });

  test("another lost try, followed by a try with the key", () => {
    const { observe, verdicts, verdictOf } = judged(lost(0, "a"), lost(200, undefined));
    const failed = verdicts({ verdict: "fail" });
    expect(failed).toHaveLength(2);
    observe(replay(700, "a"));
    expect(failed.map(({ id }) => verdictOf(id))).toEqual(failed);
  });
});

test("the failures of a first run over HTTP stay when the fixed client runs under the same key", async () => {
  const bench = await open();
  const loseNext = () => bench.faults.add({ action: { type: "lost_response", as: "reset" } });
  const post = (headers: Record<string, string>) =>
    bench.call("POST", "/v1/hospitality/pricing-rules", {
      body: { name: "Winter", adjustmentType: "fixed", adjustmentValue: 5 },
      headers,
    });
  const key = { "idempotency-key": "rule-1" };
  await loseNext();
  await post(key).catch(() => {});
  await post({});
  const failed = (await bench.verdicts.list({ verdict: "fail" })).data;
  expect(failed.map(({ rule }) => rule).sort()).toEqual(["effect.single", "idempotency.key_reused"]);
  await loseNext();
  await post(key).catch(() => {});
  await post(key);
  expect((await bench.verdicts.list({ verdict: "fail" })).data).toEqual(failed);
});

test("the fixed client gets verdicts of its own", () => {
  const { observe, verdicts } = judged(lost(0, "a"), seen(writeEntry(200, 200, undefined)));
  const [first, again] = [lostReplay(3_000, "a"), replay(3_200, "a")];
  for (const call of [first, again]) observe(call);
  expect(verdicts({ rule: "idempotency.key_reused" })).toMatchObject([
    { verdict: "fail" },
    { verdict: "pass", requests: [first.entry.id, again.entry.id] },
  ]);
});

test("the failures of a second order become inconclusive once the lost order is retried under its own key", () => {
  const { observe, verdicts, verdictOf } = judged(lost(0, "a"), seen(writeEntry(200, 200, "b")));
  const failed = idsOf(verdicts({ verdict: "fail" }));
  const retry = replay(600, "a");
  observe(retry);
  for (const rule of ["effect.single", "idempotency.key_reused"]) {
    expect(verdictOf(failed[rule])).toMatchObject({
      verdict: "inconclusive",
      confirmedBy: null,
      message: expect.stringMatching(`${retry.entry.id} repeated .* under its Idempotency-Key`),
    });
    expect(verdicts({ rule, verdict: "pass" })).toMatchObject([{ requests: expect.arrayContaining([retry.entry.id]) }]);
  }
});

test("the failure of four tries under fresh keys becomes inconclusive once any of these keys is used again", () => {
  const refused = (at: number, key: string): Observed => ({ entry: writeEntry(at, 503, key), outcome: "refused" });
  const { observe, verdicts, verdictOf } = judged(
    ...[..."abc"].map((key, place) => refused(place * 300, key)),
    seen(writeEntry(900, 200, "d")),
  );
  const [{ id }] = verdicts({ rule: "idempotency.key_reused", verdict: "fail" }) as [VerdictMessage];
  for (const [place, key] of [..."abc"].entries()) {
    observe(seen(writeEntry(2_000 + place, 200, key)));
    expect(verdictOf(id)?.verdict).toBe("inconclusive");
  }
});

test("an ignored Retry-After becomes inconclusive, not a pass, after a later read on the first connection", () => {
  const connection = { number: 9_001, opened: 1e9 - 500 };
  const { observe, verdicts, verdictOf } = judged(
    seen(requestEntry(0, 429, { ...wait("5"), connection })),
    seen(requestEntry(100, 200)),
  );
  const [{ id }] = verdicts({ rule: "retry_after.honoured", verdict: "fail" }) as [VerdictMessage];
  observe(seen(requestEntry(5_100, 200, { connection })));
  expect(verdictOf(id)).toMatchObject({
    verdict: "inconclusive",
    message: expect.stringContaining("on its connection"),
  });
});

test("a late retry does not change the failure of pauses that did not grow", () => {
  const { observe, verdicts, verdictOf } = judged(
    ...[0, 101, 202, 303].map((at): Observed => ({ entry: requestEntry(at, 503), outcome: "refused" })),
    seen(requestEntry(16_000, 200, { search: "limit=5" })),
  );
  const [flat] = verdicts({ rule: "retry.backoff_grows", verdict: "fail" }) as [VerdictMessage];
  observe(seen(requestEntry(17_000, 200)));
  expect(verdictOf(flat.id)).toEqual(flat);
});

test("an event processed twice becomes inconclusive if the second write may belong to a slow delivery", () => {
  const { attempt, request, verdicts } = judge();
  const start = performance.now();
  const writeAt = (after: number, key: string) => request(writeEntry(start + after - 1e9, 200, key));
  attempt(recordedAttempt({ id: "whd_1" }, start));
  writeAt(1, "k1");
  attempt(recordedAttempt({ id: "whd_2" }, start + 2));
  writeAt(4, "k2");
  const failed = verdicts({ rule: "webhook.single_effect" });
  expect(failed).toMatchObject([{ verdict: "fail" }]);
  attempt(recordedAttempt({ id: "whd_3", eventId: "evt_2" }, start + 3));
  expect(verdicts({ rule: "webhook.single_effect" })).toMatchObject([
    { id: failed[0]?.id, verdict: "inconclusive", message: expect.stringContaining("another delivery") },
  ]);
});

/** A random call, with any key or none, with any response, and on any connection. */
function anyCall({ chance, pick }: Draws, at: number): Observed {
  const pool = [8_001, 8_002].map((number) => ({ number, opened: 1e9 - 9 }));
  const connection = pick("connection", [undefined, ...pool]);
  const status = pick("status", [200, 200, 422, 429, 503]);
  const rest = { ...(connection && { connection }), ...(status === 429 && wait("1")) };
  if (chance("kind") < 0.25) return seen(requestEntry(at, status, rest));
  const key = pick("key", [undefined, "a", "a", "b", "c"]);
  if (chance("lost") < 0.5)
    return lost(at, key, { ...rest, responseHeaders: {}, replayOf: pick("replay", [undefined, "req_1"]) });
  return { entry: writeEntry(at, status, key, rest), ...(status === 503 && { outcome: "refused" }) };
}

test("no calls turn a proven failure into a pass, or revise the failure of a second effect without a key", () => {
  const random = createRandom(7);
  // The deadline, and not a call, shows that a retry is missing. A verdict without an id is not final.
  const isProven = ({ id, verdict, rule }: VerdictMessage) =>
    id !== null && verdict === "fail" && rule !== "retry.happened";
  let proven = 0;
  for (let run = 0; run < 400; run++) {
    const { observe, verdicts } = judged();
    const failed = new Set<string | null>();
    const settled = new Set<string | null>();
    const withoutKey = new Set<string | undefined>();
    let at = 0;
    for (let place = 0; place < 12; place++) {
      const draws = drawsOf(random, run, place);
      at += draws.pick("pause", [1, 30, 300, 1_100, 6_000, 20_000]);
      const call = anyCall(draws, at);
      if (call.entry.requestHeaders["idempotency-key"] === undefined) withoutKey.add(call.entry.id);
      observe(call);
      const found = verdicts();
      for (const verdict of found.filter(isProven)) {
        failed.add(verdict.id);
        if (verdict.rule === "effect.single" && withoutKey.has(verdict.requests[1])) settled.add(verdict.id);
      }
      expect(found.filter(({ id, verdict }) => verdict === "pass" && failed.has(id))).toEqual([]);
      expect(found.filter(({ id, verdict }) => verdict !== "fail" && settled.has(id))).toEqual([]);
    }
    proven += settled.size;
  }
  expect(proven).toBeGreaterThan(100);
});
