// The hazards of the soak test. Each hazard happens while clients work, and restores the state of the sandbox
// afterwards.

import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import { type Crowd, gather, mostConnections } from "./crowd.ts";
import type { Disk } from "./disk.ts";
import type { Load } from "./load.ts";
import { listenDeaf, type Record as Receiver } from "./receivers.ts";
import type { Subject } from "./subject.ts";
import { watch } from "./watchers.ts";

/** The context of a hazard. */
export interface Scene {
  readonly subject: Subject;
  readonly load: Load;
  readonly receiver: Receiver;
  readonly disk: Disk;
  /** The SQLite file. */
  readonly db: string;
  /** Whether there is time for the long form of the hazard. */
  readonly long: boolean;
  /** Whether this hazard runs for the first time. */
  readonly isFirst: boolean;
  pick(limit: number, ...name: (string | number)[]): number;
  /** Calls the control API. */
  // biome-ignore lint/suspicious/noExplicitAny: hazards read replies of every shape.
  control(method: string, path: string, body?: unknown): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: hazards read replies of every shape.
  service(method: string, path: string, body?: unknown): Promise<any>;
  /** Lets clients work for a while. `spell` and `until` reject if the sandbox exits. */
  spell(): Promise<void>;
  until(holds: () => boolean | Promise<boolean>): Promise<void>;
  /** Counts an action for the table at the end. */
  count(what: string, by?: number): void;
}

export type Hazard = (scene: Scene) => Promise<void>;

/**
 * Faults after which every write still has exactly one effect. No fault in this list changes an event or expires an
 * Idempotency-Key.
 */
const ON_CALLS = [
  { type: "status", status: 503 },
  { type: "status", status: 500 },
  { type: "rate_limit", retryAfter: 1 },
  { type: "latency", distribution: "uniform", min: "5ms", max: "80ms" },
  { type: "lost_response", as: "reset" },
  { type: "lost_response", as: "empty" },
  { type: "lost_response", as: "hang" },
  { type: "lost_response", as: "502" },
  { type: "connection", as: "reset" },
  { type: "connection", as: "garbage" },
  { type: "connection", as: "malformed_chunk" },
  { type: "body", as: "truncate" },
  { type: "body", as: "invalid_json" },
  { type: "body", as: "html" },
  { type: "auth", as: "expired" },
  { type: "idempotency", as: "in_progress" },
  { type: "stale_read", lag: "5s" },
];

const ON_DELIVERIES = [
  { type: "duplicate", copies: 3 },
  { type: "duplicate", copies: 2, concurrent: true },
  { type: "reorder", batch: 3, hold: "200ms" },
  { type: "delay", by: "50ms" },
  { type: "delay", until: "before_response" },
  { type: "drop", attempts: 1 },
  { type: "signature", as: "wrong_secret" },
  { type: "signature", as: "body_changed" },
  { type: "transport", as: "wrong_content_type" },
  { type: "transport", as: "abort_mid_body" },
];

const arm =
  (target: "api" | "delivery", actions: readonly object[]): Hazard =>
  async ({ control, pick, spell, load, count }) => {
    for (const [place, action] of actions.entries()) {
      const seed = pick(2 ** 20, "fault seed", place, load.seen.writes);
      await control("POST", "/faults", { target, action, trigger: { probability: 0.03, seed } });
    }
    await spell();
    await spell();
    const { data } = await control("GET", "/faults");
    for (const { fired } of data as { fired: number }[]) count("fired", fired);
    await control("DELETE", "/faults");
  };

const outage: Hazard = async ({ control, spell, count }) => {
  for (const as of ["503", "reset"]) {
    await control("POST", "/faults", { target: "api", action: { type: "outage", as }, trigger: { times: 40 } });
    await spell();
    count("outages");
  }
  await control("DELETE", "/faults");
};

const forward: Hazard = async ({ control, pick, spell, load, long, count }) => {
  for (const jump of long ? ["90s", "1h", "3h"] : ["1h"]) {
    await control("POST", "/clock/advance", { by: jump });
    await spell();
    const { unix } = await control("GET", "/clock");
    const now = new Date((unix + pick(1_800, "jump", jump, load.seen.writes)) * 1_000).toISOString();
    await control("PUT", "/clock", { mode: "offset", now });
    await spell();
    count("jumps", 2);
  }
};

/**
 * Sets the clock back by less than the lifetime of an Idempotency-Key. Otherwise keys would expire when the clock goes
 * forward again, and a repeated write would take effect twice.
 */
const backward: Hazard = async ({ control, spell, count }) => {
  const { unix } = await control("GET", "/clock");
  for (const [mode, seconds] of [
    ["offset", 7_200],
    ["frozen", 43_200],
    ["offset", 60],
  ] as const) {
    await control("PUT", "/clock", { mode, now: new Date((unix - seconds) * 1_000).toISOString() });
    await spell();
    count("jumps");
  }
  await control("PUT", "/clock", { mode: "offset", now: new Date(unix * 1_000).toISOString() });
};

/**
 * Freezes the clock and advances it in steps. An advance waits for everything that is due, so the clients pause during
 * an advance.
 */
const frozen: Hazard = async ({ control, spell, count, load }) => {
  await control("PUT", "/clock", { mode: "frozen" });
  for (const step of ["0s", "1s", "30s"]) {
    await spell();
    await load.rest();
    await control("POST", "/clock/advance", { by: step });
    load.begin();
    count("steps");
  }
  await control("PUT", "/clock", { mode: "offset" });
  await spell();
};

/** Suspends the process. If there is time, the pause is longer than the timeouts of clients and receivers. */
const suspended: Hazard = async ({ subject, spell, long, count }) => {
  for (const milliseconds of long ? [100, 1_000, 3_000] : [50, 150]) {
    await subject.suspend(milliseconds);
    await spell();
    count("sleeps");
  }
};

/** Keeps the disk full until several writes have been rejected. */
const fullDisk: Hazard = async ({ subject, disk, load, spell, until, count, control }) => {
  if (disk.by === undefined) return;
  const before = load.seen.unwritable;
  disk.fill(subject.pid);
  try {
    await until(() => load.seen.unwritable >= before + 12);
    // The sandbox cannot record due deliveries either, but reads still work.
    await control("GET", "/requests");
  } finally {
    disk.free(subject.pid);
  }
  count("refused", load.seen.unwritable - before);
  await spell();
};

/** Locks the file for longer than the lock timeout of the sandbox. */
const locked: Hazard = async ({ db, load, spell, until, count }) => {
  const before = load.seen.unwritable;
  const other = new Sqlite(db, { timeout: 5_000 });
  other.exec("begin immediate");
  try {
    await until(() => load.seen.unwritable > before);
  } finally {
    other.exec("rollback");
    other.close();
  }
  count("refused", load.seen.unwritable - before);
  await spell();
};

const WANTED = 10_000;

/**
 * Opens many connections that send nothing. If there is time, the first run waits until the sandbox closes the
 * connections after its idle timeout.
 */
const silence: Hazard = async ({ subject, spell, until, long, isFirst, count }) => {
  const wanted = long ? mostConnections(WANTED) : 100;
  const before = await subject.measure();
  const crowd = await gather(subject.port, wanted);
  try {
    count("opened", crowd.opened);
    if (crowd.opened < wanted) throw new Error(`only ${crowd.opened} of ${wanted} connections were opened`);
    // On a slow machine, the sandbox closes the first connections before the last connections are open.
    let most = 0;
    await until(async () => {
      const { sockets } = await subject.measure();
      most = Math.max(most, sockets);
      return sockets >= wanted || sockets < most - 100;
    });
    await spell();
    if (!long || !isFirst) return;
    await until(async () => (await subject.measure()).sockets <= before.sockets + 100);
    count("sent away", crowd.opened);
  } finally {
    await crowd.leave();
  }
};

const SPARE_DESCRIPTORS = 40;

/** Opens more connections than the process has file descriptors for, so that the last connections are refused. */
const noHandles: Hazard = async ({ subject, spell, count }) => {
  const { descriptors } = await subject.measure();
  const limit = (soft: number | string) =>
    spawnSync("prlimit", ["--pid", String(subject.pid), `--nofile=${soft}:`]).status === 0;
  const usual = softLimitOf(subject.pid);
  if (descriptors === undefined || usual === undefined || !limit(descriptors + SPARE_DESCRIPTORS)) return;
  let crowd: Crowd | undefined;
  try {
    crowd = await gather(subject.port, 3 * SPARE_DESCRIPTORS);
    // The load continues while no file descriptors are left.
    await pause(300);
    count("short of handles");
  } finally {
    limit(usual);
    await crowd?.leave();
  }
  await spell();
};

function softLimitOf(pid: number): string | undefined {
  const { status, stdout } = spawnSync("prlimit", ["--pid", String(pid), "--nofile", "--output=SOFT", "--noheadings"], {
    encoding: "utf8",
  });
  return status === 0 ? stdout.trim() : undefined;
}

/** Watchers that stop reading. If there is time, the first run causes more events than the sandbox buffers. */
const slowReaders: Hazard = async ({ subject, spell, long, isFirst, count }) => {
  const watchers = await Promise.all(Array.from({ length: long ? 20 : 4 }, () => watch(subject.url)));
  try {
    for (const watcher of watchers.slice(1)) watcher.stopReading();
    for (let time = 0; time < (long ? 4 : 2); time++) await spell();
    if (long && isFirst) await Promise.all([1, 2, 3].map(() => flood(subject.port, 10_000)));
    // Half of the watchers read again. The others do not.
    for (const watcher of watchers.slice(0, Math.ceil(watchers.length / 2))) {
      const { items, missed, wrong } = await watcher.catchUp();
      count("items read", items);
      count("items missed", missed);
      if (wrong > 0) throw new Error(`a watcher got ${wrong} sequence numbers out of order`);
    }
  } finally {
    for (const watcher of watchers) watcher.leave();
  }
};

/** Pipelines this many reads on one connection. Resolves with the last response. */
async function flood(port: number, reads: number): Promise<void> {
  const head = `GET /v1/merchants/me HTTP/1.1\r\nHost: localhost:${port}\r\nAuthorization: Bearer sk_test_lodge\r\n`;
  const socket = connect({ port, host: "127.0.0.1" });
  socket.resume();
  socket.write(`${head}\r\n`.repeat(reads - 1));
  socket.write(`${head}Connection: close\r\n\r\n`);
  await once(socket, "close");
}

const deafReceivers: Hazard = async ({ service, spell, long, count }) => {
  const deaf = await listenDeaf();
  try {
    const registered = await Promise.all(
      deaf.map(({ url }) => service("POST", "/v1/webhooks", { url, events: ["payroll.created"] })),
    );
    for (let time = 0; time < (long ? 5 : 1); time++) await spell();
    // In the end, one receiver stops listening.
    await deaf[0]?.close();
    await spell();
    for (const { id } of registered) await service("DELETE", `/v1/webhooks/${id}`);
    for (const { met } of deaf) count("met", met());
  } finally {
    for (const { close } of deaf) await close();
  }
};

/** Clients that disconnect in the middle of a line, of the headers, of the body or of the response. */
const RUDE = [
  "GET /v1/pay",
  "GET /v1/payments HTTP/1.1\r\nHost: localho",
  "POST /v1/employees/payroll HTTP/1.1\r\nHost: localhost:PORT\r\nAuthorization: Bearer sk_test_lodge\r\n" +
    "Content-Type: application/json\r\nContent-Length: 400\r\n\r\n{",
  "GET /v1/payments?limit=100 HTTP/1.1\r\nHost: localhost:PORT\r\nAuthorization: Bearer sk_test_lodge\r\n\r\n".repeat(
    5,
  ),
  "GET /_sandbox/openapi.json HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n",
  "GET /_sandbox/live HTTP/1.1\r\nHost: localhost:PORT\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n\x81\xff",
  "\x16\x03\x01\x02\x00\x01\x00 this is no HTTP",
];

const rudeness: Hazard = async ({ subject, spell, long, pick, count }) => {
  for (let time = 0; time < (long ? 40 : 3); time++) {
    await Promise.all(
      RUDE.map(async (text, kind) => {
        const socket = connect({ port: subject.port, host: "127.0.0.1" });
        socket.on("error", () => {});
        await once(socket, "connect");
        socket.write(Buffer.from(text.replaceAll("PORT", String(subject.port)), "latin1"));
        // Some connections break before the sandbox has read the bytes, and some afterwards.
        await pause(pick(20, "rude", time, kind));
        if (pick(2, "how", time, kind) === 0) socket.resetAndDestroy();
        else socket.destroy();
      }),
    );
    count("broken off", RUDE.length);
  }
  await spell();
};

const VISITS = [
  "",
  "/requests?limit=100",
  "/deliveries?limit=100",
  "/events",
  "/operations",
  "/verdicts",
  "/faults",
  "/openapi.json",
];

/** Everyday use: the live stream, snapshots, reports, and merchants that are created and removed. */
const visitors: Hazard = async ({ control, spell, count, pick, load, long }) => {
  for (const path of VISITS) await control("GET", path);
  for (const format of ["json", "junit", "markdown", "html", "har"]) await control("GET", `/report?format=${format}`);
  const name = `soak-${load.seen.writes}`;
  await control("PUT", `/snapshots/${name}`);
  await control("DELETE", `/snapshots/${name}`);
  for (const fixture of long ? ["lodge", "market", "stage"] : ["lodge"]) {
    const { id: merchant } = await control("POST", "/merchants", { fixture });
    await control("POST", "/records/payment", { merchant });
    await spell();
    if (pick(2, "reset", merchant) === 0) await control("POST", "/reset", { merchant });
    await control("DELETE", `/merchants/${merchant}`);
  }
  count("visits", VISITS.length + 5);
};

export const hazards: Readonly<Record<string, Hazard>> = {
  "faults on calls": arm("api", ON_CALLS),
  "faults on deliveries": arm("delivery", ON_DELIVERIES),
  outages: outage,
  "the clock forward": forward,
  "the clock backward": backward,
  "the clock frozen": frozen,
  suspended,
  "a full disk": fullDisk,
  "a locked file": locked,
  "connections that say nothing": silence,
  "no handles left": noHandles,
  "watchers that do not read": slowReaders,
  "receivers that never answer": deafReceivers,
  "clients that break off": rudeness,
  visitors,
};
