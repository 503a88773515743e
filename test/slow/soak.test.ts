// Soak test: runs the built program through all hazards for a long time. The program must survive, leak nothing and
// lose nothing. `npm run soak` runs for SOAK_SECONDS (default: 180) and prints the counts. SOAK_SEED changes the random
// choices.

import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { growth, median } from "../soak/flat.ts";
import { hazards } from "../soak/hazards.ts";
import { expectNothingLost, openSoak, type Soak } from "../soak/soak.ts";
import type { ResourceUse } from "../soak/subject.ts";
import { needs, ON_WINDOWS, UNIX } from "../support/needs.ts";

interface Outcome {
  seconds: number;
  seed: number;
  lives: { killed: number; stopped: number };
  /** The memory and handles of the first sandbox after each hazard, from the second round on. */
  held: readonly ResourceUse[];
}

const megabytes = (bytes: number) => `${(bytes / 1_048_576).toFixed(1)} MB`;

function memory(held: readonly ResourceUse[], of: "heap" | "rss"): string {
  const values = held.map((one) => one[of]);
  const [least, most] = [Math.min(...values), Math.max(...values)].map(megabytes);
  return (
    `${megabytes(median(values))} median, ${least} to ${most}, ` +
    `grew by ${megabytes(growth(values))} over ${held.length} samples`
  );
}

const range = (values: number[]) => `${Math.min(...values)} to ${Math.max(...values)}`;

function table({ load, receiver, disk, met }: Soak, { seconds, seed, lives, held }: Outcome): string {
  const { seen, writes } = load;
  const copies = [...receiver.copies.values()].reduce((sum, count) => sum + count, 0);
  const rows: [string, string][] = [
    ["soak", `${Math.round(seconds)} s, seed ${seed}`],
    ["lives", `1 long, ${lives.killed} killed, ${lives.stopped} stopped`],
    [
      "calls",
      `${seen.reads} reads and ${seen.writes} writes answered, ` +
        `${seen.refused} refused, ${seen.broken} without an answer`,
    ],
    [
      "writes",
      `${writes.length}, all stored once; ${seen.again} retried, of which ${seen.hadHappened} had already taken effect`,
    ],
    [
      "events",
      `${receiver.copies.size}, each received; ${copies} genuine copies, ` +
        `${receiver.seen.forged} forged, ${receiver.seen.failed} failed`,
    ],
    ...[...met].map(([name, counts]): [string, string] => [
      name,
      [...counts].map(([what, count]) => `${count} ${what}`).join(", "),
    ]),
    ["disk filled by", disk.by ?? "nothing: not possible on this machine"],
  ];
  if (held.length > 0)
    rows.push(
      ["heap", memory(held, "heap")],
      ["process", memory(held, "rss")],
      ["sockets", range(held.map(({ sockets }) => sockets))],
      ["descriptors", range(held.map(({ descriptors }) => descriptors ?? 0))],
    );
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => `${name.padEnd(width)}  ${text}\n`).join("");
}

const SECONDS = process.env.SOAK_SECONDS === undefined ? undefined : Number(process.env.SOAK_SECONDS);
const SEED = Number(process.env.SOAK_SEED ?? 20_260_105);
const LONG = SECONDS !== undefined;
/** The share of the time for one long-lived process. Many short-lived processes share the rest. */
const ONE_LIFE = 0.6;
const FEWEST_LIVES = LONG ? 10 : 3;
/** Minimum number of rounds through all hazards. The first round warms up, and the later rounds show growth. */
const FEWEST_ROUNDS = LONG ? 3 : 1;
/**
 * Sockets and descriptors that a process may have beyond those at its start: connections to the receiver, and the event
 * loop, pipes and files of the thread that copies the write-ahead log.
 */
const KEPT = { sockets: 4, descriptors: 20 };
const names = Object.keys(hazards);

/** The hazards in random order. */
const shuffled = ({ pick }: Soak, round: number) =>
  names
    .map((name) => ({ name, place: pick(2 ** 30, "order", round, name) }))
    .sort((one, other) => one.place - other.place);

/** Runs one process through every hazard repeatedly, and measures memory and handles after each hazard. */
async function runAllHazards(soak: Soak, until: number): Promise<ResourceUse[]> {
  const held: ResourceUse[] = [];
  const before = await soak.hold();
  for (let round = 0; round < FEWEST_ROUNDS || performance.now() < until; round++)
    for (const { name } of shuffled(soak, round)) {
      await soak.meet(name);
      await soak.calm();
      expect([name, await soak.load.repeat(20)]).toEqual([name, []]);
      held.push(await restored(soak, before));
    }
  return held;
}

/** Waits until the connections of the hazard have closed, and measures the process. */
async function restored(soak: Soak, { sockets, descriptors = 0 }: ResourceUse): Promise<ResourceUse> {
  let held = await soak.hold();
  while (held.sockets > sockets + KEPT.sockets || (held.descriptors ?? 0) > descriptors + KEPT.descriptors) {
    await pause(100);
    held = await soak.hold();
  }
  return held;
}

/** Repeatedly kills the process during a hazard, or sometimes stops it after one, and restarts it on the same file. */
async function killRepeatedly(soak: Soak, until: number): Promise<{ killed: number; stopped: number }> {
  let killed = 0;
  let stopped = 0;
  for (let life = 0; life < FEWEST_LIVES || performance.now() < until; life++) {
    const name = names[soak.pick(names.length, "hazard of life", life)] as string;
    if (soak.pick(6, "end of life", life) === 0) {
      await soak.meet(name);
      expect((await soak.subject.stop()).code).toBe(0);
      stopped++;
    } else {
      await soak.killDuring(name, 1 + soak.pick(LONG ? 150 : 30, "answers of life", life));
      killed++;
    }
    const refused = life % 5 === 0 ? await soak.startOnFullDisk() : undefined;
    if (refused) expectRefusal(refused, /disk/);
    await soak.start();
    if (life % 3 === 0) await soak.calm();
  }
  await soak.calm();
  return { killed, stopped };
}

function expectRefusal({ code, error }: { code: number | null; error: string }, says: RegExp): void {
  expect([code, error]).toEqual([1, expect.stringMatching(says)]);
  expect(error).toMatch(/^merchant-sandbox: [^\n]+--db <file>[^\n]*\n$/);
}

/** Expects warnings only about the database file, and only while it is not writable. */
const expectNoDefects = ({ complaints }: Soak) =>
  expect(
    complaints.filter(
      (text) => !/^merchant-sandbox: failed at \S+: (Another program|The disk|The SQLite file)/.test(text),
    ),
  ).toEqual([]);

describe("growth is distinguished from fluctuation", () => {
  const wave = (count: number, slope: number) =>
    Array.from({ length: count }, (_, place) => 100 + slope * place + 20 * ((place * 7) % 5));
  test.each([
    ["a wave", 0, wave(40, 0)],
    ["a rising wave", 39, wave(40, 1)],
    ["a wave with an outlier", 0, [...wave(20, 0), 900, ...wave(20, 0)]],
  ])("%s grows by %d", (_, grown, values) => {
    expect(Math.abs(growth(values) - grown)).toBeLessThan(5);
  });
});

const MEGABYTE = 1_048_576;

/**
 * Allowed growth from the second round to the end, because bounded buffers, such as the list of verdicts, fill slowly.
 */
const MOST_GROWTH = { heap: 8 * MEGABYTE, rss: 40 * MEGABYTE };

function expectFlat(held: readonly ResourceUse[]): void {
  for (const of of ["heap", "rss"] as const) {
    const values = held.map((one) => one[of]);
    expect(growth(values), `${of}: ${values.join()}`).toBeLessThan(MOST_GROWTH[of]);
  }
}

test.skipIf(ON_WINDOWS)(
  `one process survives every hazard, and processes that are killed lose no write${needs(!ON_WINDOWS, UNIX)}`,
  async () => {
    const soak = await openSoak({ seed: SEED, long: LONG });
    const began = performance.now();
    const ending = (share: number) => began + share * (SECONDS ?? 0) * 1_000;
    try {
      const held = await runAllHazards(soak, ending(ONE_LIFE));
      const lives = await killRepeatedly(soak, ending(1));
      expect((await soak.subject.stop()).code).toBe(0);
      const seconds = (performance.now() - began) / 1_000;
      const later = held.slice(names.length);
      if (LONG) process.stdout.write(table(soak, { seconds, seed: SEED, lives, held: later }));
      expectNothingLost(soak);
      expectNoDefects(soak);
      if (later.length > 0) expectFlat(later);
    } finally {
      await soak.close();
    }
  },
  LONG ? 3_600_000 + SECONDS * 3_000 : 300_000,
);
