// The clients of the soak test: writers that retry until they succeed, readers, and a record of their responses.

import { Agent } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { compose, type Write } from "../support/counted-writes.ts";
import { type Answer, call } from "../support/sandbox.ts";

export type Load = ReturnType<typeof createLoad>;

export interface Seen {
  reads: number;
  writes: number;
  /** Error responses and damaged bodies, which are expected during hazards. */
  refused: number;
  /** Calls whose connection failed. */
  broken: number;
  /** The number of retried writes. `hadHappened` counts those that had taken effect before the retry. */
  again: number;
  hadHappened: number;
  /** Rejections because the database file cannot be written. */
  unwritable: number;
  /** Wrong behaviour seen by clients. In a correct run the list is empty. */
  wrong: string[];
}

interface Needs {
  /** The current URL of the sandbox. */
  url(): string;
  pick(limit: number, ...name: (string | number)[]): number;
}

const WRITERS = 4;
const READERS = 3;
/** Milliseconds without any data after which a client gives up its call. */
const PATIENCE = 1_000;
const BEFORE_RETRY = 25;
const MOST_THINKING = 6;

const READS = [
  "/v1/merchants/me",
  "/v1/payments?limit=20",
  "/v1/customers/cus_ines",
  "/v1/payouts",
  "/v1/statutory/settings",
  "/v1/webhooks",
  "/v1/webhook-deliveries?limit=10",
];

/** The error statuses that a correct client may get during a hazard. */
const EXCUSES = new Set([401, 409, 429, 500, 502, 503]);
const UNWRITABLE = /full|locked|cannot be written/;

export function createLoad({ url, pick }: Needs) {
  const writes: Write[] = [];
  const seen: Seen = { reads: 0, writes: 0, refused: 0, broken: 0, again: 0, hadHappened: 0, unwritable: 0, wrong: [] };
  let waiting: { at: number; resolve: () => void }[] = [];
  let working: Promise<unknown> | undefined;
  let running = false;
  let givenUp = false;
  let agent = new Agent({ keepAlive: true });
  let shift = 0;

  const heard = () => {
    const count = seen.reads + seen.writes;
    for (const { resolve } of waiting.filter(({ at }) => at <= count)) resolve();
    waiting = waiting.filter(({ at }) => at > count);
  };
  /** Makes a call. Returns undefined if the response is an error or damaged, or if the connection failed. */
  const ask = async (method: string, path: string, given: object = {}): Promise<Answer | undefined> => {
    try {
      const answer = await call(url(), method, path, { ...given, agent, patience: PATIENCE });
      if (answer.status === 200 && typeof answer.body === "object") return answer;
      if (answer.status !== 200 && !EXCUSES.has(answer.status))
        seen.wrong.push(`${method} ${path}: ${answer.status} ${answer.text}`);
      if (answer.status === 500 && UNWRITABLE.test(answer.body?.message)) seen.unwritable++;
      seen.refused++;
    } catch {
      seen.broken++;
    }
    return undefined;
  };
  const send = ({ key, path, body }: Write) => ask("POST", path, { body, headers: { "idempotency-key": key } });
  const settle = async (write: Write) => {
    for (;;) {
      write.answer = await send(write);
      if (write.answer) break;
      if (givenUp) return;
      write.lost++;
      await pause(BEFORE_RETRY);
    }
    seen.writes++;
    if (write.lost > 0) seen.again++;
    if (write.lost > 0 && write.answer.headers["idempotent-replayed"] === "true") seen.hadHappened++;
    heard();
  };
  const writer = async (number: number) => {
    for (let count = 0; running; count++) {
      const write = compose(`s${shift}-w${number}-${count}`, pick);
      writes.push(write);
      await settle(write);
      await pause(pick(MOST_THINKING, "thinks", write.key));
    }
  };
  const reader = async (number: number) => {
    for (let count = 0; running; count++) {
      if (await ask("GET", READS[pick(READS.length, "reads", shift, number, count)] as string)) {
        seen.reads++;
        heard();
      }
      await pause(pick(MOST_THINKING, "thinks", shift, number, count));
    }
  };
  const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);
  return {
    writes,
    seen,
    /** Starts the clients, unless they are running. */
    begin() {
      if (running) return;
      running = true;
      shift++;
      working = Promise.all([...numbers(WRITERS).map(writer), ...numbers(READERS).map(reader)]);
    },
    /** Resolves after this many more successful calls. */
    answered: (more: number) =>
      new Promise<void>((resolve) => void waiting.push({ at: seen.reads + seen.writes + more, resolve })),
    /** Stops the clients gracefully: they retry each write with its key until the write succeeds. */
    async rest() {
      running = false;
      await working;
      agent.destroy();
      agent = new Agent({ keepAlive: true });
    },
    /** Stops the clients at once, even with calls in flight. */
    giveUp() {
      running = false;
      givenUp = true;
      agent.destroy();
    },
    /** Repeats some of the newest writes. Returns the writes whose response differs from their first response. */
    async repeat(most: number) {
      const insist = async (write: Write): Promise<Answer> => (await send(write)) ?? insist(write);
      const answers = await Promise.all(
        writes.slice(-most).map(async (write) => ({ write, again: await insist(write) })),
      );
      agent.destroy();
      return answers.flatMap(({ write: { key, answer, lost }, again }) => {
        const replayed = again.headers["idempotent-replayed"] === "true";
        return replayed && again.text === answer?.text
          ? []
          : [{ key, lost, replayed, first: answer?.text, again: again.text }];
      });
    },
  };
}
