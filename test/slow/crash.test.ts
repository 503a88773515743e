// Kills the program during writes and deliveries, repeatedly, and checks that no effect is lost, partial or duplicated.
// `npm run crash` kills it 100 times.

import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { createRandom } from "../../src/kernel/random.ts";
import { expectNothingLost, openSoak, type Soak } from "../soak/soak.ts";
import { startSubject } from "../soak/subject.ts";
import { look } from "../support/counted-writes.ts";
import { folder } from "../support/program.ts";
import { call, control, RULES } from "../support/sandbox.ts";

const KILLS = Number(process.env.CRASH_KILLS ?? 5);

/** Moments to kill the program. */
const MOMENTS: ((soak: Soak, round: number) => Promise<unknown>)[] = [
  // After some responses, with more requests and deliveries in flight.
  ({ load, pick }, round) => load.answered(1 + pick(60, "answers", round)),
  // Shortly after a response, at a random moment: during handling, commit, response or delivery.
  ({ load, pick }, round) => load.answered(1 + pick(30, "answers", round)).then(() => pause(pick(25, "pause", round))),
  // As soon as the program listens, during its recovery.
  async () => {},
];

test(
  `after ${KILLS} kills, every acknowledged write exists once, with its event and a delivery`,
  async () => {
    const soak = await openSoak({ seed: 20_260_105, long: false });
    const { load, pick, db } = soak;
    const restart = async () => {
      await soak.subject.kill();
      await soak.start();
    };
    try {
      for (let round = 0; round < KILLS - 1; round++) {
        load.begin();
        await MOMENTS[pick(MOMENTS.length, "moment", round)]?.(soak, round);
        await restart();
      }
      // Repeats the writes before calm() advances the clock, because a stored reply expires after a day.
      await load.rest();
      expect(await load.repeat(load.writes.length)).toEqual([]);
      // After the last kill, the clients do not retry the calls that got no response.
      load.begin();
      await load.answered(20);
      await soak.subject.kill();
      await expect.poll(() => load.writes.some(({ answer, lost }) => answer === undefined && lost > 0)).toBe(true);
      load.giveUp();
      await soak.start();
      await soak.calm();
      expect((await soak.subject.stop()).code).toBe(0);
    } finally {
      await soak.close();
    }
    expect(load.seen.again).toBeGreaterThan(0);
    expectNothingLost(soak);
    const attempts = look(db, (rows) => ({
      misnumbered: rows(
        "select * from attempts a where attempt <> (select count(*) from attempts " +
          "where delivery = a.delivery and attempt <= a.attempt)",
      ),
      twice: rows("select delivery from attempts where status = 'succeeded' group by delivery having count(*) > 1"),
      statuses: rows<{ status: string }>("select distinct status from attempts order by status").map(
        ({ status }) => status,
      ),
      unexplained: rows(
        "select * from attempts where status = 'aborted' and errorMessage not like 'The sandbox stopped%'",
      ),
    }));
    expect(attempts).toEqual({
      misnumbered: [],
      twice: [],
      statuses: ["aborted", "failed", "succeeded"],
      unexplained: [],
    });
  },
  60_000 + KILLS * 10_000,
);

interface State {
  /** The names of the pricing rules that were created. */
  readonly rules: ReadonlySet<string>;
  readonly added: ReadonlySet<string>;
  /** How far the frozen clock was advanced, in hours; null for the time of this machine. */
  readonly hours: number | null;
}

const START: State = { rules: new Set(), added: new Set(), hours: null };
const CLOCK = "2026-01-05T12:00:00Z";

/**
 * A client that tracks the states that the program may have: the acknowledged state, the state after a call without a
 * response, and the saved states.
 */
async function openStory() {
  const db = join(folder(), "data.db");
  let subject = await startSubject(db, dirname(db));
  let known = START;
  let wanted: State | undefined;
  const saved = new Map<string, State>();
  /** Rules written during restores and resets. The database may or may not contain them. */
  const maybe = new Set<string>();
  let isWriting = false;
  let made = 0;
  const step = async (next: State, work: () => Promise<unknown>) => {
    wanted = next;
    await work();
    known = next;
    wanted = undefined;
  };
  const make = (name: string) =>
    call(subject.url, "POST", RULES, { body: { name, adjustmentType: "fixed", adjustmentValue: 1 } });
  const acts: (() => Promise<void>)[] = [
    async () => {
      const name = `acknowledged ${++made}`;
      await step({ ...known, rules: new Set([...known.rules, name]) }, async () => {
        expect((await make(name)).status).toBeLessThan(300);
      });
    },
    () => control(subject.url, "PUT", "/snapshots/mark").then(() => void saved.set("mark", known)),
    () => {
      const before = saved.get("mark");
      if (!before) return Promise.resolve();
      return step({ ...before, hours: known.hours }, () => control(subject.url, "POST", "/snapshots/mark/restore"));
    },
    () => step(START, () => control(subject.url, "POST", "/reset", {})),
    () => {
      const { hours } = known;
      return hours === null
        ? step({ ...known, hours: 0 }, () => control(subject.url, "PUT", "/clock", { mode: "frozen", now: CLOCK }))
        : step({ ...known, hours: hours + 1 }, () => control(subject.url, "POST", "/clock/advance", { by: "1h" }));
    },
    async () => {
      const name = `merchant-${++made}`;
      await step({ ...known, added: new Set([...known.added, name]) }, () =>
        control(subject.url, "POST", "/merchants", { fixture: "blank", name }),
      );
    },
  ];
  return {
    acts,
    db,
    /** Writes rules during the other calls. The database may or may not contain them afterwards. */
    async writeConcurrently() {
      isWriting = true;
      while (isWriting) {
        const name = `beside ${++made}`;
        maybe.add(name);
        await make(name).catch(() => pause(20));
      }
    },
    rest() {
      isWriting = false;
    },
    async restart() {
      await subject.kill();
      subject = await startSubject(db, dirname(db));
    },
    /** Compares the database with the acknowledged state, or with the state after the call without a response. */
    async check() {
      const rules = look(db, (rows) =>
        rows<{ name: string }>("select body ->> 'name' as name from documents where kind = 'pricing_rule'"),
      ).map(({ name }) => name);
      const { data: merchants } = await control(subject.url, "GET", "/merchants");
      const { mode, unix } = await control(subject.url, "GET", "/clock");
      const seen = {
        rules: rules.filter((name) => name.startsWith("acknowledged")).sort(),
        merchants: merchants.length,
        hours: mode === "frozen" ? (unix * 1_000 - Date.parse(CLOCK)) / 3_600_000 : null,
      };
      const shown = (state: State) => ({
        rules: [...state.rules].sort(),
        merchants: 4 + state.added.size,
        hours: state.hours,
      });
      const isSeen = (state: State) => JSON.stringify(shown(state)) === JSON.stringify(seen);
      const found = [known, ...(wanted ? [wanted] : [])].find(isSeen);
      expect([seen, wanted !== undefined]).toEqual([found ? seen : shown(known), wanted !== undefined]);
      expect(rules.filter((name) => name.startsWith("beside") && !maybe.has(name))).toEqual([]);
      known = found ?? known;
      wanted = undefined;
    },
    stop: () => subject.stop(),
  };
}

test(
  `after ${KILLS} kills during snapshots, restores, resets and other calls, each call took full effect or none`,
  async () => {
    // With this seed, five rounds try every kind of call, and a restore after a snapshot.
    const { fraction } = createRandom(20_260_138);
    const pick = (limit: number, ...name: (string | number)[]) => Math.floor(fraction(...name) * limit);
    const story = await openStory();
    for (let round = 0; round < KILLS; round++) {
      const beside = story.writeConcurrently();
      const calls = 1 + pick(6, "calls", round);
      const acting = (async () => {
        for (let number = 0; number < calls; number++) {
          const act = story.acts[pick(story.acts.length, "act", round, number)];
          await act?.();
        }
      })().catch((error: unknown) => {
        // The kill interrupts a call. Any other error fails the test.
        if (!/fetch failed|ECONN|socket|closed|terminated|hang up/i.test(String(error))) throw error;
      });
      await pause(pick(150, "pause", round));
      story.rest();
      await story.restart();
      await Promise.all([acting, beside]);
      await story.check();
      expect(readdirSync(dirname(story.db)).filter((name) => name.includes("unfinished"))).toEqual([]);
    }
    expect((await story.stop()).code).toBe(0);
    expect(existsSync(`${story.db}-wal`)).toBe(false);
  },
  60_000 + KILLS * 10_000,
);
