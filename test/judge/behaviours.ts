// Behaviours of clients: the calls of each that the sandbox sees, and the verdicts that the judge must give.

import type { Firing } from "../../src/contracts/fault.ts";
import type { Verdict } from "../../src/contracts/verdict.ts";
import type { Connection, RequestEntry } from "../../src/store/request-log/request-log.ts";
import { firing, requestEntry, writeEntry } from "../support/judge-inputs.ts";

export interface Observed {
  entry: RequestEntry;
  /** The effect of a fault on the call. */
  outcome?: Firing["outcome"];
}

export interface Behaviour {
  name: string;
  calls(delay: number): Observed[];
  /** The verdict of each rule. Rules that are not named must not give `fail`. */
  expected: Record<string, Verdict>;
  /** Milliseconds between a response and the next try (default: all of DELAYS). */
  delays?: readonly number[];
}

export const DELAYS = [0, 1, 100, 3_000];

const seen = (entry: RequestEntry): Observed => ({ entry });
const faulted = (entry: RequestEntry, outcome: Firing["outcome"]): Observed => ({ entry, outcome });
const told = (seconds: number) => ({ responseHeaders: { Date: "x", "Retry-After": String(seconds) } });
const lost = (key: string | undefined, at = 0) =>
  faulted(writeEntry(at, 200, key, { responseHeaders: {} }), "response_lost");
const refused = (at: number, status: number, key: string | undefined) =>
  faulted(writeEntry(at, status, key), "refused");
const other = (at: number) => seen(requestEntry(at, 200, { path: "/v1/merchants/me", operation: undefined }));
const range = (count: number) => Array.from({ length: count }, (_, index) => index);

/** A connection for several requests, opened at this many milliseconds after the first call. */
const sharing = (opened: number) => ({ connection: { number: 2_000 + opened, opened: 1e9 + opened } });

const writes: Behaviour[] = [
  {
    name: "retries a lost write without a key",
    calls: (delay) => [lost(undefined), seen(writeEntry(delay, 200, undefined))],
    expected: { "idempotency.present": "fail", "effect.single": "fail" },
  },
  {
    name: "retries a lost write under a fresh key",
    calls: (delay) => [lost("a"), seen(writeEntry(delay, 200, "b"))],
    expected: { "idempotency.key_reused": "fail", "effect.single": "fail", "retry.happened": "pass" },
  },
  {
    name: "retries a lost write under its key",
    calls: (delay) => [lost("a"), seen(writeEntry(delay, 200, "a", { replayOf: "req_1" }))],
    expected: {
      "idempotency.present": "pass",
      "idempotency.key_reused": "pass",
      "effect.single": "pass",
      "retry.happened": "pass",
    },
  },
  {
    name: "redelivers a lost write from a queue after the deadline",
    delays: [15_500, 60_000],
    calls: (delay) => [lost("a"), other(15_300), seen(writeEntry(delay, 200, "a", { replayOf: "req_1" }))],
    expected: { "idempotency.key_reused": "pass", "effect.single": "pass", "retry.happened": "pass" },
  },
  {
    name: "sends an equal order under another key, then retries the lost order under its own key",
    calls: (delay) => [
      lost("a"),
      seen(writeEntry(delay, 200, "b")),
      seen(writeEntry(delay + 400, 200, "a", { replayOf: "req_1" })),
    ],
    expected: { "idempotency.key_reused": "pass", "effect.single": "pass", "retry.happened": "pass" },
  },
  {
    name: "retries a refused call once under a fresh key",
    calls: (delay) => [refused(0, 503, "a"), seen(writeEntry(delay, 200, "b"))],
    expected: { "idempotency.key_reused": "inconclusive" },
  },
  {
    name: "uses a fresh key for each of four tries",
    calls: (delay) =>
      [..."abc"]
        .map((key, place) => refused(place * (delay + 5), 503, key))
        .concat(seen(writeEntry(3 * (delay + 5), 200, "d"))),
    expected: { "idempotency.key_reused": "fail" },
    delays: [50, 300, 3_000],
  },
  {
    name: "repeats a POST without a key after a 429",
    calls: () => [seen(writeEntry(0, 429, undefined, told(1))), seen(writeEntry(1_050, 200, undefined))],
    expected: { "retry_after.honoured": "pass", "idempotency.present": "pass" },
  },
  ...(["refused", "disconnected"] as const).flatMap((outcome) =>
    ([1, 2, 3] as const).map(
      (times): Behaviour => ({
        name: `repeats a POST without a key after ${times} ${outcome} call(s)`,
        calls: () => {
          const answer = outcome === "refused" ? {} : { responseHeaders: {} };
          const failures = [0, 400, 1_200]
            .slice(0, times)
            .map((at) => faulted(writeEntry(at, 503, undefined, answer), outcome));
          return [...failures, seen(writeEntry(2_800, 200, undefined))];
        },
        expected: { "idempotency.present": times === 3 ? "fail" : "inconclusive" },
      }),
    ),
  ),
  {
    name: "repeats a POST without a key after a 429 and then a 503",
    calls: () => [
      seen(writeEntry(0, 429, undefined, told(1))),
      refused(1_050, 503, undefined),
      seen(writeEntry(1_800, 200, undefined)),
    ],
    expected: { "idempotency.present": "inconclusive" },
  },
  {
    name: "drops the key of a lost write",
    calls: (delay) => [lost("a"), seen(writeEntry(delay, 200, undefined))],
    expected: { "idempotency.key_reused": "fail", "effect.single": "fail" },
  },
  {
    name: "sends 10 equal orders at once, and retries each under its own key",
    calls: (delay) => {
      const first = range(10).map((place) => {
        const { entry } = lost(`key_${place}`, place / 4);
        return faulted(
          { ...entry, duration: 5, connection: { number: 3_000 + place, opened: 1e9 - 1 + place / 8 }, isFirst: true },
          "response_lost",
        );
      });
      return [
        ...first,
        ...range(10).map((place) => seen(writeEntry(20 + place + delay, 200, `key_${place}`, { replayOf: "req_1" }))),
      ];
    },
    expected: { "idempotency.key_reused": "pass", "effect.single": "pass" },
  },
  {
    name: "closes its connection after a 503 while an equal call is in flight, and retries at once under a fresh key",
    calls: () => {
      const connection = { number: 4_000, opened: 1e9 - 20, closed: 1e9 + 1 };
      const first = refused(0, 503, "a");
      const beside = writeEntry(-10, 200, "b", {
        duration: 30,
        connection: { number: 4_001, opened: 1e9 - 10 },
        isFirst: true,
      });
      return [
        { ...first, entry: { ...first.entry, connection, isFirst: true } },
        seen(writeEntry(2, 200, "c")),
        seen(beside),
      ];
    },
    expected: { "idempotency.key_reused": "inconclusive" },
  },
  {
    name: "does not repeat a lost write that has no key",
    calls: () => [lost(undefined), other(16_000)],
    expected: {},
  },
];

const limits: Behaviour[] = [
  {
    name: "ignores Retry-After on a new connection",
    calls: (delay) => [seen(requestEntry(0, 429, told(5))), seen(requestEntry(delay, 200))],
    expected: { "retry_after.honoured": "fail", "retry.happened": "pass" },
  },
  {
    name: "waits as long as Retry-After says",
    calls: () => [seen(requestEntry(0, 429, told(5))), seen(requestEntry(5_020, 200))],
    expected: { "retry_after.honoured": "pass", "retry.happened": "pass" },
  },
  {
    name: "has not retried when the run ends early",
    calls: () => [seen(requestEntry(0, 429, told(5)))],
    expected: { "retry.happened": "inconclusive" },
  },
  {
    name: "has a second poller on another connection, which did not get the Retry-After",
    calls: () => {
      const [one, two] = [sharing(-5_000), sharing(-4_500)];
      const polls = [-2_000, -1_000].flatMap((at) => [
        seen(requestEntry(at, 200, one)),
        seen(requestEntry(at + 500, 200, two)),
      ]);
      return [
        ...polls,
        seen(requestEntry(0, 429, { ...told(5), ...one })),
        ...[500, 1_500].map((at) => seen(requestEntry(at, 200, two))),
      ];
    },
    expected: { "retry.happened": "inconclusive" },
  },
  {
    name: "has a second poller without keep-alive",
    calls: () => [
      ...[-2_000, -1_500, -1_000, -500].map((at) => seen(requestEntry(at, 200))),
      seen(requestEntry(0, 429, told(5))),
      ...[500, 1_500].map((at) => seen(requestEntry(at, 200))),
    ],
    expected: { "retry.happened": "inconclusive" },
  },
  {
    name: "has a second poller without keep-alive, whose polls are late because its machine is busy",
    calls: () => [
      ...[-4_000, -2_700, -1_300].map((at) => seen(requestEntry(at, 200))),
      seen(requestEntry(0, 429, told(5))),
      seen(requestEntry(300, 200)),
    ],
    expected: { "retry.happened": "inconclusive" },
  },
  {
    name: "polls without keep-alive, and then retries at once or has a second poller",
    delays: [0, 1, 10, 100],
    calls: (delay) => [
      ...[-4_000, -2_700, -1_300].map((at) => seen(requestEntry(at, 200))),
      seen(requestEntry(0, 429, told(5))),
      seen(requestEntry(delay, 200)),
    ],
    expected: { "retry.happened": "inconclusive" },
  },
  {
    name: "continues with calls that have another query",
    calls: (delay) => [
      seen(requestEntry(0, 429, told(200))),
      ...range(30).map((place) => seen(requestEntry((place + 1) * (delay + 1), 200, { search: `limit=${place}` }))),
    ],
    expected: { "retry.happened": "inconclusive" },
  },
  {
    name: "has 40 workers, whose waits end together",
    calls: () =>
      range(40)
        .map((place) => seen(requestEntry(place / 10, 429, { ...told(1), duration: 8, search: `limit=${place}` })))
        .concat(range(40).map((place) => seen(requestEntry(1_010 + place / 10, 200, { search: `limit=${place}` })))),
    expected: { "retry_after.honoured": "pass", "retry.happened": "pass" },
  },
];

const repeated = (status: number, times: number, delay: number) =>
  range(times).map((place) => seen(requestEntry(place * (delay + 1), status)));

const rejections: Behaviour[] = [
  ...[400, 404, 422].flatMap((status): Behaviour[] => [
    {
      name: `sends a request four times, although it gets ${status}`,
      calls: (delay) => repeated(status, 4, delay),
      expected: { "retry.only_retryable": "fail" },
    },
    {
      name: `sends a request in three tests that all expect ${status}`,
      calls: (delay) => repeated(status, 3, delay),
      expected: {},
    },
  ]),
  {
    name: "does not repeat a 404",
    calls: (delay) => [seen(requestEntry(0, 404)), seen(requestEntry(delay + 1, 200, { search: "limit=5" }))],
    expected: { "retry.only_retryable": "pass" },
  },
  {
    name: "repeats a 404 that a fault caused",
    calls: (delay) => repeated(404, 60, delay).map(({ entry }) => faulted(entry, "refused")),
    expected: {},
  },
  {
    name: "polls until it gets 200, while stale_read causes a 404",
    calls: (delay) =>
      repeated(404, 8, delay)
        .map(({ entry }) => faulted(entry, "normal"))
        .concat(seen(requestEntry(8 * (delay + 1), 200))),
    expected: {},
  },
  {
    name: "sends 20 equal requests at once, which all get 404",
    calls: () => range(20).map((place) => seen(requestEntry(place / 10, 404, { duration: 10 }))),
    expected: {},
  },
];

const outages: Behaviour[] = [
  ...(
    [
      [10, "pass"],
      [11, "fail"],
    ] as const
  ).map(
    ([times, verdict]): Behaviour => ({
      name: `tries a call ${times} times during an outage`,
      calls: () =>
        range(times).map((place) =>
          faulted(requestEntry(100 * 2 ** place, place === times - 1 ? 200 : 503), "refused"),
        ),
      expected: { "retry.bounded": verdict, "retry.backoff_grows": "pass" },
      delays: [0],
    }),
  ),
  {
    name: "waits equally long before each retry",
    calls: () =>
      [0, 600, 1_210, 1_805]
        .map((at) => faulted(requestEntry(at, 503), "refused"))
        .concat(seen(requestEntry(2_400, 200))),
    expected: { "retry.backoff_grows": "fail" },
    delays: [0],
  },
  ...[0, 5, 60].map(
    (pause): Behaviour => ({
      name: `retries in a loop with pauses of ${pause} ms`,
      calls: () =>
        range(10).map((place) => faulted(requestEntry(place * (pause + 1), place === 9 ? 200 : 503), "refused")),
      expected: { "retry.backoff_grows": "fail", "retry.bounded": "pass" },
      delays: [0],
    }),
  ),
  ...(
    [
      ["one connection, except for one call", (place) => (place === 1 ? 1 : 0), "fail"],
      ["one connection, and later a new one", (place) => (place < 6 ? 0 : 1), "fail"],
      // Several clients with one API key would send the same calls, so the judge cannot decide.
      ["two alternating connections", (place) => place % 2, "inconclusive"],
      ["three connections in irregular order", (place) => (place * place * 7 + place) % 3, "inconclusive"],
    ] as [string, (place: number) => number, Verdict][]
  ).map(
    ([which, connectionOf, verdict]): Behaviour => ({
      name: `retries in a loop of 12 calls over ${which}`,
      calls: () => {
        const pool = range(3).map((number) => ({ number: 6_000 + number, opened: 1e9 - 500 }));
        const pause = (place: number) => 20 + ((place * 73) % 180);
        let at = 0;
        return range(12).map((place) => {
          at += pause(place);
          const connection = pool[connectionOf(place)] as Connection;
          return faulted(requestEntry(at, place === 11 ? 200 : 503, { connection }), "refused");
        });
      },
      expected: { "retry.bounded": verdict },
      delays: [0],
    }),
  ),
  ...[2, 3, 5, 8, 10].map(
    (tries): Behaviour => ({
      name: `gives up after ${tries} tries with jittered doubling, and starts again at once, for 40 calls`,
      calls: () => {
        let at = 0;
        return range(40).map((place) => {
          const jitter = 0.5 + ((place * 37) % 100) / 100;
          at += place % tries === 0 ? 2 : 50 * 2 ** ((place % tries) - 1) * jitter;
          return faulted(requestEntry(at, 503), "refused");
        });
      },
      expected: { "retry.bounded": "inconclusive" },
      delays: [0],
    }),
  ),
  {
    name: "sends a write 11 times under its key, with pauses that start small again every five tries",
    calls: () => {
      let at = 0;
      return range(11).map((place) => {
        at += 50 * 2 ** (place % 5);
        return refused(at, 503, "a");
      });
    },
    expected: { "retry.bounded": "fail" },
    delays: [0],
  },
  {
    name: "backs off during an outage",
    calls: () =>
      [0, 200, 600, 1_400]
        .map((at) => faulted(requestEntry(at, 503), "refused"))
        .concat(seen(requestEntry(3_000, 200))),
    expected: { "retry.backoff_grows": "pass", "retry.happened": "pass" },
  },
  {
    name: "opens its circuit breaker for 12 s, tests with another call, and then retries",
    calls: () => [
      ...[0, 300, 900].map((at) => faulted(requestEntry(at, 503), "refused")),
      other(12_900),
      seen(requestEntry(13_000, 200)),
    ],
    expected: { "retry.happened": "pass" },
  },
];

export const behaviours = [...writes, ...limits, ...rejections, ...outages];

/** The firing of the fault on this call; undefined if no fault affected it. */
export const firingOf = ({ entry, outcome }: Observed) =>
  outcome ? firing({ requestId: entry.id, outcome }) : undefined;
