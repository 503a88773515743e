// The work that one request can cause. It is counted in executed blocks of the program, because times mean nothing on a
// busy machine.

import { createHook } from "node:async_hooks";
import { Session } from "node:inspector/promises";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { inputs } from "../support/fuzzing.ts";
import { hostilePieces } from "../support/hostile-pieces.ts";
import { attempted, type Bench, RULES, share } from "../support/sandbox.ts";

const SIZE = 2 ** 18;
/** Executed blocks per character of the body, in all event-loop turns together. An ordinary body takes 3. */
const MOST_PER_CHARACTER = 40;

const session = new Session();
let bench: Bench;
beforeAll(async () => {
  bench = await share({ rateLimit: "none" });
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  return async () => {
    session.disconnect();
    await bench.close();
  };
});

/** The number of executed blocks of the program since the last call. */
async function blocks(): Promise<number> {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const ranges = result
    .filter(({ url }) => /\/src\//.test(url))
    .flatMap(({ functions }) => functions.flatMap((one) => one.ranges));
  return ranges.reduce((sum, { count }) => sum + count, 0);
}

const text = (piece: string, length: number) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
/**
 * Bodies of about this length. Most repeat a piece: in a text, in field names and values, in checked fields, or without
 * JSON around it. The others repeat brackets or empty objects.
 */
const shapes: Record<string, (piece: string, length: number) => string> = {
  text: (piece, length) => JSON.stringify({ note: text(piece, length) }),
  escaped: (piece, length) => `{"note":"${text(piece.replaceAll('"', '\\"'), length)}"}`,
  names: (piece, length) => {
    const names = Array.from({ length: Math.min(length / (piece.length + 12), 9_000) }, (_, index) => [
      `${piece}${index}`,
      piece,
    ]);
    return JSON.stringify(Object.fromEntries(names));
  },
  checked: (piece, length) => JSON.stringify({ name: text(piece, length), adjustmentType: text(piece, 10) }),
  raw: text,
  brackets: (piece, length) => `{"note":${text("[", length / 2)}${piece}${text("]", length / 2)}}`,
  empty: (_, length) => `{"note":[${text("{},", length)}0]}`,
};
const shape = fc.constantFrom(...Object.keys(shapes));
const piece = fc.array(fc.constantFrom(...hostilePieces, "eyJa.", "://a@", "\\\\", "%2525252541"), {
  minLength: 1,
  maxLength: 3,
});

const RULE = '{"name":"x","adjustmentType":"fixed","adjustmentValue":1,';
const targets = fc.constantFrom(
  { path: RULES, key: "sk_test_lodge" },
  { path: RULES, key: "sk_test_lodge", isValid: true },
  { path: RULES, key: "sk_test_lodge", isValid: true, isKeyed: true },
  { path: "/v1/hospitality/bookings/bkg_pending/decline", key: "sk_test_lodge" },
  { path: "/_sandbox/faults", key: null },
);

test("handling any body executes a bounded number of blocks per character", async () => {
  const property = fc.asyncProperty(piece, shape, targets, async (pieces, name, { path, key, isValid, isKeyed }) => {
    attempted("Requests that block the process");
    const made = (shapes[name] as (typeof shapes)[string])(pieces.join(""), SIZE / 2);
    const body = isValid ? made.replace(/^\{/, RULE) : made;
    const headers: Record<string, string> = isKeyed ? { "idempotency-key": `${Math.random()}` } : {};
    await blocks();
    const { status } = await bench.call("POST", path, { key, body, headers });
    await bench.control("GET", "/requests?limit=1");
    const work = await blocks();
    expect(status).toBeLessThan(500);
    expect(work / body.length).toBeLessThan(MOST_PER_CHARACTER);
  });
  await fc.assert(property, { numRuns: inputs(30) });
});

test.each([
  ["/v1/hospitality/pricing-rules", 4],
  ["/_sandbox/events", 2],
])("handling a long body at %s yields to the event loop %i times", async (path, most) => {
  let turns = 0;
  const isOurs = () => new Error().stack?.includes("nextTurn") === true;
  const hook = createHook({ init: (_id, type) => void (type === "Immediate" && isOurs() && turns++) });
  const turnsOf = async (length: number) => {
    turns = 0;
    await bench.call("POST", path, { key: "sk_test_lodge", body: `${RULE}"note":"${text("x", length)}"}` });
    return turns;
  };
  hook.enable();
  expect([await turnsOf(100), await turnsOf(SIZE)]).toEqual([0, most]);
  hook.disable();
});
