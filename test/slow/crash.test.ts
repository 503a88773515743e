// Kills the program during writes and deliveries, repeatedly, and checks that no effect is lost, partial or duplicated.
// `npm run crash` kills it 100 times.

import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { expectNothingLost, openSoak, type Soak } from "../soak/soak.ts";
import { look } from "../support/counted-writes.ts";

const KILLS = Number(process.env.CRASH_KILLS ?? 8);

/** Moments to kill the program. */
const MOMENTS: ((soak: Soak, round: number) => Promise<unknown>)[] = [
  // After some responses, with more requests and deliveries in flight.
  ({ load, pick }, round) => load.answered(1 + pick(60, "answers", round)),
  // Shortly after a response, at a random moment: during handling, commit, response or delivery.
  ({ load, pick }, round) => load.answered(1 + pick(30, "answers", round)).then(() => pause(pick(25, "pause", round))),
  // As soon as it listens, during recovery.
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
      // Before calm(), which advances the clock to later retries: a stored reply expires after a day.
      await load.rest();
      expect(await load.repeat(load.writes.length)).toEqual([]);
      // The clients do not retry what the last kill leaves without a response.
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
