// Behaviours of clients, which tests run with real HTTP clients, and the verdicts that each behaviour must get.

import type { FaultAction } from "../../../generated/control-api.ts";

export interface Actions {
  post(key?: string): Promise<unknown>;
  get(path?: string): Promise<unknown>;
  /** A read by a second program with the same API key. */
  other(path?: string): Promise<unknown>;
  /** Waits this long (default: the delay of the run). */
  wait(milliseconds?: number): Promise<unknown>;
  /** A number between 0 and 1 that depends on the seed. */
  random(name: string | number): number;
  /** Arms a fault for the client's merchant, on one operation or, if it is `null`, on every operation. */
  fault(action: FaultAction, times: number, operation?: string | null): Promise<void>;
  createCustomer(id: string): Promise<unknown>;
}

export interface ClientBehaviour {
  name: string;
  /** Returns false if the machine was too slow to show the behaviour; the run does not count then. */
  act(actions: Actions): Promise<unknown>;
  /** The rules that must fail. Any other failed rule, except those of `mayFail`, is a false positive. */
  fails: string[];
  /** Rules that may fail, depending on the pauses, which vary with the seed and the machine. */
  mayFail?: string[];
  /** Rules that must get at least one pass. */
  passes?: string[];
  /** Rules whose verdict may be inconclusive, because the calls have two explanations. */
  open?: string[];
  /** Set if the behaviour needs many calls a second. Clients that start a program for each call cannot show it. */
  isFast?: true;
  /** Set if rules of `fails` may stay inconclusive, because random pauses or a busy machine can hide the behaviour. */
  isByMilliseconds?: true;
}

const LOST: FaultAction = { type: "lost_response", as: "reset" };
const DOWN: FaultAction = { type: "status", status: 503 };
const GONE = "/customers/cus_nobody";
const RETRIED = ["idempotency.key_reused", "effect.single", "retry.happened"];
const limited = (retryAfter: number): FaultAction => ({ type: "rate_limit", retryAfter });
const repeat = async (times: number, act: (time: number) => Promise<unknown>) => {
  for (let time = 0; time < times; time++) await act(time);
};
const each = (times: number, act: (time: number) => Promise<unknown>) =>
  Promise.all(Array.from({ length: times }, (_, time) => act(time)));

const writes: ClientBehaviour[] = [
  {
    name: "lost write, same key",
    fails: [],
    passes: RETRIED,
    act: async ({ fault, post, wait }) => [await fault(LOST, 1), await post("a"), await wait(), await post("a")],
  },
  {
    name: "lost write, redelivered by a queue after 15 s under the same key",
    fails: [],
    passes: RETRIED,
    act: async ({ fault, post, get, wait }) => [
      await fault(LOST, 1),
      await post("a"),
      await wait(15_100),
      await get("/merchants/me"),
      await wait(),
      await post("a"),
    ],
  },
  {
    name: "lost write, fresh key",
    fails: ["effect.single", "idempotency.key_reused"],
    passes: ["retry.happened"],
    act: async ({ fault, post, wait }) => [await fault(LOST, 1), await post("a"), await wait(), await post("b")],
  },
  {
    name: "lost write, no key",
    fails: ["effect.single", "idempotency.present"],
    act: async ({ fault, post, wait }) => [await fault(LOST, 1), await post(), await wait(), await post()],
  },
  {
    name: "POST without a key after a 429",
    fails: [],
    passes: ["retry_after.honoured"],
    act: async ({ fault, post, wait }) => [await fault(limited(1), 1), await post(), await wait(1_020), await post()],
  },
  {
    name: "fresh key once after a 503",
    fails: [],
    open: ["idempotency.key_reused"],
    act: async ({ fault, post, wait }) => [await fault(DOWN, 1), await post("a"), await wait(), await post("b")],
  },
  {
    name: "fresh key for each of four tries",
    fails: ["idempotency.key_reused"],
    act: async ({ fault, post, wait }) => [
      await fault(DOWN, 3),
      await repeat(4, async (time) => [await post(`key-${time}`), await wait()]),
    ],
  },
];

const limits: ClientBehaviour[] = [
  {
    name: "Retry-After ignored",
    fails: ["retry_after.honoured"],
    passes: ["retry.happened"],
    async act({ fault, get, wait }) {
      await fault(limited(19), 1);
      const begun = performance.now();
      await get();
      await wait();
      await get();
      return performance.now() - begun < 18_000;
    },
  },
  {
    name: "Retry-After honoured",
    fails: [],
    passes: ["retry_after.honoured", "retry.happened"],
    act: async ({ fault, get, wait }) => [
      await fault(limited(1), 1),
      await get(),
      await wait(1_020),
      await wait(),
      await get(),
    ],
  },
  {
    name: "20 workers that retry at the same time after Retry-After",
    isFast: true,
    fails: [],
    passes: ["retry_after.honoured", "retry.happened"],
    act: async ({ fault, get, wait }) => [
      await fault(limited(1), 20),
      await each(20, (worker) => get(`/payments?limit=${worker + 1}`)),
      await wait(1_020),
      await each(20, (worker) => get(`/payments?limit=${worker + 1}`)),
    ],
  },
  {
    name: "two pollers, only one of which got a Retry-After",
    fails: [],
    open: ["retry.happened", "retry_after.honoured"],
    async act({ fault, get, other, wait }) {
      await repeat(3, () =>
        get()
          .then(() => wait(150))
          .then(() => other())
          .then(() => wait(150)),
      );
      await fault(limited(9), 1);
      await get();
      await repeat(2, () => wait(300).then(() => other()));
    },
  },
];

const rejections: ClientBehaviour[] = [
  {
    name: "the same 404 four times",
    fails: ["retry.only_retryable"],
    act: ({ get, wait }) => repeat(4, async () => [await get(GONE), await wait()]),
  },
  {
    name: "the same 404 three times",
    fails: [],
    act: ({ get, wait }) => repeat(3, async () => [await get(GONE), await wait()]),
  },
  {
    name: "one 404, then another call",
    fails: [],
    passes: ["retry.only_retryable"],
    act: async ({ get, wait }) => [await get(GONE), await wait(), await get()],
  },
  {
    name: "a 404 caused by a fault, six times",
    fails: [],
    act: async ({ fault, get, wait }) => [
      await fault({ type: "status", status: 404 }, 6, "customers.get"),
      await repeat(6, async () => [await get(GONE), await wait()]),
    ],
  },
  {
    name: "polls until a stale read is over",
    fails: [],
    async act({ fault, get, wait, createCustomer }) {
      await fault({ type: "stale_read", lag: "1h" }, 6, "customers.get");
      await createCustomer("cus_new");
      await repeat(7, async () => [await get("/customers/cus_new"), await wait()]);
    },
  },
];

const loopOf24Retries = (shortest: number, longest: number): ClientBehaviour => ({
  name: `a loop of 24 retries after 503, with pauses of ${shortest} to ${longest} ms`,
  fails: ["retry.bounded"],
  mayFail: ["retry.backoff_grows"],
  passes: ["retry.happened"],
  act: async ({ fault, get, wait, random }) => [
    await fault(DOWN, 24),
    await repeat(25, async (time) => [await get(), await wait(shortest + (longest - shortest) * random(time))]),
  ],
});

const outages: ClientBehaviour[] = [
  {
    name: "a lost read that is never repeated",
    fails: ["retry.happened"],
    act: async ({ fault, get, wait }) => [
      await fault(LOST, 1),
      await get(),
      await wait(16_500),
      await get("/merchants/me"),
    ],
  },
  {
    name: "a circuit breaker, open for 12 s",
    fails: [],
    passes: ["retry.happened"],
    async act({ fault, get, wait }) {
      await fault(DOWN, 3);
      const ended: number[] = [];
      const pauses = [300, 600, 12_000];
      await repeat(3, async (time) => [await get(), ended.push(performance.now()), await wait(pauses[time])]);
      await get();
      const [one = 0, two = 0, three = 0] = ended;
      // If a client takes seconds to start, the second pause does not look twice as long as the first.
      return three - two >= 1.5 * (two - one);
    },
  },
  loopOf24Retries(100, 200),
  // With such short pauses, two tries of one call look like the last try of one call and the first of another.
  { ...loopOf24Retries(0, 200), isByMilliseconds: true },
  {
    name: "an outage, with pauses that double",
    isByMilliseconds: true,
    fails: [],
    passes: ["retry.happened", "retry.bounded"],
    async act({ fault, get, wait }) {
      await fault(DOWN, 4);
      const times: number[] = [];
      const note = () => times.push(performance.now());
      await repeat(5, async (time) => [note(), await get(), note(), await wait(200 * 2 ** time)]);
      const [start = 0, , , second = 0, , , , end = 0, last = 0] = times;
      // On a slow machine, the calls themselves lengthen the pauses, so the doubling may not show.
      return last - end >= 2.5 * (second - start);
    },
  },
];

export const clientBehaviours: readonly ClientBehaviour[] = [...writes, ...limits, ...rejections, ...outages];
