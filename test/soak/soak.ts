// The parts of the soak test: a database file, a receiver, the clients, and a series of sandboxes on that file.

import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import { createRandom } from "../../src/kernel/random.ts";
import { counted, expectEffects, look, perKey } from "../support/counted-writes.ts";
import { type Ended, launch } from "../support/program.ts";
import { call, control } from "../support/sandbox.ts";
import { openDisk } from "./disk.ts";
import { type Hazard, hazards, type Scene } from "./hazards.ts";
import { createLoad } from "./load.ts";
import { keepRecord } from "./receivers.ts";
import { type Subject, startOn, startSubject } from "./subject.ts";

export type Soak = Awaited<ReturnType<typeof openSoak>>;

export async function openSoak({ seed, long }: { seed: number; long: boolean }) {
  const random = createRandom(seed);
  const pick: Scene["pick"] = (limit, ...name) => Math.floor(random.fraction(...name) * limit);
  const disk = openDisk();
  const db = join(disk.folder, "data.db");
  const receiver = await keepRecord(pick);
  /** How often each hazard performed each of its actions. */
  const met = new Map<string, Map<string, number>>();
  /** The error output of all sandboxes. */
  const complaints: string[] = [];
  const begin = async () => {
    const begun = await startSubject(db, disk.folder);
    void begun.ended.then(({ error }) => complaints.push(...error.split(/^(?=\S)/m).filter((text) => text !== "")));
    return begun;
  };
  let subject = await begin();
  const load = createLoad({ url: () => subject.url, pick });
  const service: Scene["service"] = async (method, path, body) => {
    const answer = await call(subject.url, method, path, { body });
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
    return answer.body;
  };
  const own = await service("POST", "/v1/webhooks", { url: receiver.url, events: ["*"] });
  receiver.secret = own.secret;

  const scene = (name: string): Scene => ({
    ...{ subject, load, receiver, disk, db, long, pick, service },
    isFirst: !met.has(name),
    control: (...asked) => control(subject.url, ...asked),
    spell: () => whileItLives(subject, load.answered(long ? 250 : 15)),
    async until(holds) {
      // Polls, because most conditions depend on another process or on the file.
      while (!(await holds())) await whileItLives(subject, pause(50));
    },
    count(what, by = 1) {
      const counts = met.get(name) ?? new Map<string, number>();
      met.set(name, counts.set(what, (counts.get(what) ?? 0) + by));
    },
  });
  const meet = async (name: string) => {
    const here = scene(name);
    here.count("times");
    load.begin();
    await (hazards[name] as Hazard)(here);
  };
  return {
    ...{ db, disk, load, receiver, met, complaints, pick, meet, endpoint: own.id },
    get subject() {
      return subject;
    },
    /** Starts the next sandbox. */
    async start() {
      subject = await begin();
    },
    /**
     * Waits until everything has settled: the clients' writes have succeeded, faults are removed, and no delivery is
     * pending.
     */
    async calm() {
      await whileItLives(subject, load.rest());
      await control(subject.url, "DELETE", "/faults");
      const { data } = await service("GET", "/v1/webhooks?limit=100");
      for (const { id } of data as { id: string }[]) if (id !== own.id) await service("DELETE", `/v1/webhooks/${id}`);
      await control(subject.url, "PUT", "/clock", { mode: "offset" });
      while (!(await isSettled(subject.url)));
    },
    /** The memory and handles of the idle process. */
    async hold() {
      receiver.rest();
      return subject.measure();
    },
    /** Kills the sandbox during a hazard, after this many more responses. */
    async killDuring(name: string, answers: number) {
      const meeting = meet(name).catch(() => {});
      await Promise.race([load.answered(answers), meeting]);
      await subject.kill();
      disk.free(subject.pid);
      await meeting;
    },
    /**
     * Starts the sandbox on a full disk. Returns undefined if the sandbox found free space, or if this system cannot
     * fill a disk.
     */
    async startOnFullDisk(): Promise<Ended | undefined> {
      if (disk.by !== "a file system of its own") return undefined;
      disk.fill(0);
      const program = launch(startOn(db));
      const ended = await Promise.race([program.ended, program.line((line) => line.includes(" is ready at "))]);
      disk.free(0);
      if (typeof ended === "object") return ended;
      program.child.kill("SIGKILL");
      await program.ended;
      return undefined;
    },
    async close() {
      load.giveUp();
      await receiver.close();
    },
  };
}

/** Waits for the work, but rejects if the process exits first. */
const whileItLives = ({ ended }: Subject, work: Promise<void>) =>
  Promise.race([
    work,
    ended.then(({ code, signal, error }) =>
      Promise.reject(new Error(`the sandbox ended with ${code ?? signal}: ${error.slice(-2_000)}`)),
    ),
  ]);

/** Whether no delivery is pending. Advances the clock to later retries. */
async function isSettled(url: string): Promise<boolean> {
  const { settled, pending } = await control(url, "POST", "/drain", { within: "5s" });
  if (settled && pending > 0) await control(url, "POST", "/clock/advance", { by: "30m" });
  return settled && pending === 0;
}

/** Expects that every acknowledged write exists once, and that every event was delivered. */
export function expectNothingLost({ db, load, receiver, endpoint }: Soak): void {
  const { records, untold, open } = look(db, (rows) => ({
    records: counted(rows(perKey("documents", "$.metadata.key"))),
    untold: rows<{ id: string }>("select id from events where merchant = 'mer_lodge'").filter(
      ({ id }) => !receiver.copies.has(id),
    ),
    // A copy of a delivery that a fault made gets only one attempt, so the copy may stay unsuccessful.
    open: rows(
      `select * from deliveries where merchant = 'mer_lodge' and endpoint = '${endpoint}' ` +
        "and copy = 0 and state <> 'succeeded'",
    ),
  }));
  expectEffects(load.writes, { records, events: receiver.events });
  expect({ untold, open, changed: receiver.changed, wrong: load.seen.wrong }).toEqual({
    untold: [],
    open: [],
    changed: [],
    wrong: [],
  });
}
