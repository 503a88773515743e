// Kills the program during writes and deliveries, repeatedly, and checks that no effect is lost, partial or duplicated.
// `npm run crash` kills it 100 times and prints the counts.

import { join } from "node:path";
import { expect, test } from "vitest";
import { createRandom } from "../../src/kernel/random.ts";
import { compose, counted, expectEffects, look, type Made, perKey, type Write } from "../support/counted-writes.ts";
import { folder, type Started, start } from "../support/program.ts";
import { call, control } from "../support/sandbox.ts";
import { type Arrival, type Receiver, receive } from "../support/webhooks.ts";

const KILLS = Number(process.env.CRASH_KILLS ?? 8);
const WRITERS = 6;
const random = createRandom(20_260_105);
/** An integer below `limit`, the same for the same name. */
const pick = (limit: number, ...name: (string | number)[]) => Math.floor(random.fraction(...name) * limit);

interface Insistent extends Write {
  /** Whether clients retry a request without a response, with the same key. */
  insists: boolean;
}

const begin = (key: string): Insistent => ({ ...compose(key, pick), insists: pick(2, "insists", key) === 0 });

async function send(url: string, write: Write): Promise<boolean> {
  try {
    write.answer = await call(url, "POST", write.path, { body: write.body, headers: { "idempotency-key": write.key } });
    return true;
  } catch {
    write.lost++;
    return false;
  }
}

/** Several clients: each first retries its requests without a response, then continues until the sandbox is gone. */
async function writeUntilGone(url: string, round: number, writes: Insistent[], heard: () => void): Promise<void> {
  const unanswered = writes.filter(({ answer, insists }) => insists && answer === undefined);
  const client = async (number: number) => {
    for (let count = 0; ; count++) {
      const write = unanswered.shift() ?? begin(`r${round}-c${number}-${count}`);
      if (!writes.includes(write)) writes.push(write);
      if (!(await send(url, write))) return;
      heard();
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, number) => client(number)));
}

/** Moments to kill the program; each function resolves when its moment has come. */
type Moment = (program: Started, receiver: Receiver, round: number) => { come: Promise<unknown>; heard: () => void };

function soMany(most: number) {
  let left = most;
  let resolve = () => {};
  const come = new Promise<void>((done) => {
    resolve = done;
  });
  const heard = () => {
    if (--left <= 0) resolve();
  };
  return { come, heard };
}

const MOMENTS: Moment[] = [
  // After some responses, with more requests in flight.
  (_, __, round) => soMany(1 + pick(60, "answers", round)),
  // When a delivery has arrived and has no response yet.
  (_, receiver, round) => ({ come: receiver.arrived(receiver.arrivals.length + 1 + pick(40, "arrivals", round)), heard: () => {} }),
  // Shortly after a response, at a random moment: during handling, commit, response or delivery.
  (_, __, round) => {
    const { come, heard } = soMany(1 + pick(30, "answers", round));
    return { come: come.then(() => new Promise((resolve) => setTimeout(resolve, pick(25, "pause", round)))), heard };
  },
  // As soon as it listens, during recovery.
  () => ({ come: Promise.resolve(), heard: () => {} }),
];

/** Responds 500 to some first attempts, and to all after a random pause, so that deliveries are always in flight. */
function answerLate(seen: Set<string>) {
  return ({ event }: Arrival, outgoing: { writeHead(status: number): { end(): void } }) => {
    const fails = !seen.has(event.id) && pick(5, "fails", event.id) === 0;
    seen.add(event.id);
    setTimeout(() => outgoing.writeHead(fails ? 500 : 200).end(), pick(12, "late", event.id));
  };
}

const OPTIONS = ["--db", "data.db", "--rate-limit", "none", "--retry-schedule", "20ms,20ms,20ms"];

async function crashOften(cwd: string, receiver: Receiver): Promise<Insistent[]> {
  const writes: Insistent[] = [];
  for (let round = 0; round < KILLS; round++) {
    const program = await start(OPTIONS, {}, cwd);
    if (round === 0) await call(program.url, "POST", "/v1/webhooks", { body: { url: receiver.url, events: ["*"] } });
    const { come, heard } = (MOMENTS[pick(MOMENTS.length, "moment", round)] as Moment)(program, receiver, round);
    const writing = writeUntilGone(program.url, round, writes, heard);
    await come;
    await program.kill();
    await writing;
  }
  const last = await start(OPTIONS, {}, cwd);
  for (const write of writes.filter(({ answer, insists }) => insists && answer === undefined))
    expect(await send(last.url, write)).toBe(true);
  // Retried with its key, each acknowledged request returns the same response.
  for (const { path, key, body, answer } of writes.filter((write) => write.answer !== undefined)) {
    const again = await call(last.url, "POST", path, { body, headers: { "idempotency-key": key } });
    expect([again.status, again.text, again.headers["idempotent-replayed"]]).toEqual([200, answer?.text, "true"]);
  }
  let drained = { settled: false, pending: 1 };
  while (drained.pending > 0 || !drained.settled) drained = await control(last.url, "POST", "/drain", { within: "1s" });
  last.child.kill("SIGTERM");
  expect(await last.ended).toMatchObject({ code: 0, error: "" });
  return writes;
}

interface Kept extends Made {
  eventIds: string[];
  deliveries: { sequence: number; state: string }[];
  attempts: { delivery: number; attempt: number; status: string; errorMessage: string | null }[];
}

const readFile = (file: string): Kept =>
  look(file, (rows) => ({
    records: counted(rows(perKey("documents", "$.metadata.key"))),
    events: counted(rows(perKey("events", "$.data.metadata.key"))),
    eventIds: rows<{ id: string }>("select id from events").map(({ id }) => id),
    deliveries: rows("select sequence, state from deliveries"),
    attempts: rows("select delivery, attempt, status, errorMessage from attempts order by delivery, attempt"),
  }));

function expectDeliveries({ eventIds, deliveries, attempts }: Kept, receiver: Receiver) {
  const bodies = new Map<string, string>();
  for (const { event, body } of receiver.arrivals) {
    expect(bodies.get(event.id) ?? body.toString()).toBe(body.toString());
    bodies.set(event.id, body.toString());
  }
  expect([...bodies.keys()].sort()).toEqual(eventIds.sort());
  expect(deliveries.filter(({ state }) => state !== "succeeded")).toEqual([]);
  expect(deliveries).toHaveLength(eventIds.length);
  const log = byDelivery(attempts);
  for (const { sequence } of deliveries) {
    const made = log.get(sequence) ?? [];
    expect(made.map(({ attempt }) => attempt)).toEqual(made.map((_, index) => index + 1));
    expect(made.map(({ status }) => status).at(-1)).toBe("succeeded");
    for (const { status, errorMessage } of made.slice(0, -1)) {
      expect(["failed", "aborted"]).toContain(status);
      if (status === "aborted") expect(errorMessage).toMatch(/^The sandbox stopped/);
    }
  }
}

function byDelivery(attempts: Kept["attempts"]): Map<number, Kept["attempts"]> {
  const groups = new Map<number, Kept["attempts"]>();
  for (const attempt of attempts) groups.set(attempt.delivery, [...(groups.get(attempt.delivery) ?? []), attempt]);
  return groups;
}

function counts(writes: Insistent[], { records, attempts, eventIds }: Kept, receiver: Receiver) {
  const lost = writes.filter((write) => write.lost > 0);
  const dropped = lost.filter(({ answer }) => answer === undefined);
  const statuses = (status: string) => attempts.filter((attempt) => attempt.status === status).length;
  return {
    kills: KILLS,
    effects: { sent: writes.length, answered: writes.filter(({ answer }) => answer).length },
    "answers lost": {
      all: lost.length,
      "asked again: had happened": lost.filter(({ answer }) => answer?.headers["idempotent-replayed"] === "true").length,
      "asked again: had not": lost.filter(({ answer }) => answer && answer.headers["idempotent-replayed"] === undefined).length,
      "given up: had happened": dropped.filter(({ key }) => records.has(key)).length,
      "given up: had not": dropped.filter(({ key }) => !records.has(key)).length,
    },
    events: eventIds.length,
    attempts: { all: attempts.length, succeeded: statuses("succeeded"), failed: statuses("failed"), aborted: statuses("aborted") },
    "copies received": receiver.arrivals.length,
  };
}

test(
  `after ${KILLS} kills, every acknowledged write exists once, with its event and a delivery`,
  async () => {
    const cwd = folder();
    const receiver = await receive();
    receiver.always(answerLate(new Set()));
    const writes = await crashOften(cwd, receiver);
    const kept = readFile(join(cwd, "data.db"));
    expectEffects(writes, kept);
    expectDeliveries(kept, receiver);
    const summary = counts(writes, kept, receiver);
    expect(summary.effects.answered).toBeGreaterThan(KILLS);
    expect(summary["answers lost"].all).toBeGreaterThan(0);
    expect(summary.attempts.aborted).toBeGreaterThan(0);
    if (process.env.CRASH_KILLS !== undefined) process.stdout.write(`${JSON.stringify(summary, undefined, 2)}\n`);
  },
  60_000 + KILLS * 10_000,
);
