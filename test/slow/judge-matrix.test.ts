// The confusion matrix of the judge. Clients with known behaviours use each HTTP library with random delays, either
// alone, beside 20 workers or on a loaded machine. `npm run verdicts` makes 10,000 runs (`RUNS`, `SEED`) and prints the
// matrix. `npm test` skips this test, because it keeps every core busy. test/judge/behaviours.test.ts tests the
// behaviours without HTTP libraries.

import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import type { OperationPattern, Verdict } from "../../generated/control-api.ts";
import { createRandom } from "../../src/kernel/random.ts";
import { sleep } from "../support/clients/client.ts";
import { type Actions, type ClientBehaviour, clientBehaviours } from "../support/clients/client-behaviours.ts";
import { type Client, PROGRAMS, transports } from "../support/clients/transports.ts";
import { needs } from "../support/needs.ts";
import { type Bench, share } from "../support/sandbox.ts";

const RUNS = Number(process.env.RUNS);
const SEED = Number(process.env.SEED ?? 7);
/** Selects the behaviours whose names contain this text. */
const ONLY = process.env.ONLY ?? "";
/** The number of concurrent runs. It exceeds the number of cores, because a run mostly waits. */
const CONCURRENT = { alone: 32, "beside 20 workers": 16, "on a loaded machine": 32 };
const DELAYS = [0, 1, 10, 100, 300, 3_000];
const SURROUNDINGS = ["alone", "beside 20 workers", "on a loaded machine"] as const;

interface Run {
  number: number;
  behaviour: ClientBehaviour;
  transport: string;
  delay: number;
  surroundings: (typeof SURROUNDINGS)[number];
  /** Whether the client itself arms the faults, on its own connections. */
  armsItself: boolean;
}

const chosen = clientBehaviours.filter(({ name }) => name.includes(ONLY));
const random = createRandom(SEED);
const pick = <T>(list: readonly T[], ...name: (string | number)[]): T =>
  list[Math.floor(random.fraction(...name) * list.length)] as T;

function runOf(number: number, surroundings: Run["surroundings"]): Run {
  const behaviour = chosen[number % chosen.length] as ClientBehaviour;
  const isProgram = !behaviour.isFast && random.fraction("program", surroundings, number) < 0.04;
  const names = Object.keys(transports).filter((name) => PROGRAMS.includes(name) === isProgram);
  return {
    number,
    behaviour,
    transport: pick(names, "transport", surroundings, number),
    delay: pick(DELAYS, "delay", surroundings, number),
    surroundings,
    armsItself: random.fraction("arms itself", surroundings, number) < 0.5,
  };
}

interface RunResult {
  /** Whether the behaviour kept its timing, so that its verdicts count. */
  isInTime: boolean;
  verdicts: Found[];
  /** The requests and responses of the client. */
  calls: string[];
}

type Found = Pick<Verdict, "rule" | "verdict" | "message">;

/**
 * The newest verdict of each id, by merchant, from the live stream. The sandbox's list keeps only the newest 1,000 of
 * each kind, and 32 concurrent runs make more than that during one long run.
 */
const published = new Map<string | null, Map<string | null, Found>>();

function collectVerdicts(bench: Bench): void {
  bench.onLiveEvent((event) => {
    if (event.kind !== "verdict") return;
    const { id, merchant } = event.verdict;
    const verdicts = published.get(merchant) ?? new Map<string | null, Found>();
    published.set(merchant, verdicts.set(id, event.verdict));
  });
}

async function perform(bench: Bench, run: Run): Promise<RunResult> {
  const { behaviour, transport, delay, surroundings, armsItself } = run;
  const { id: merchant, apiKey } = await bench.merchants.add({ fixture: "blank" });
  const headers = { authorization: `Bearer ${apiKey}` };
  const open = transports[transport] as () => Client;
  const clients = [open(), open()] as const;
  const calls: string[] = [];
  const get = (client: Client, path = "/payments") =>
    noted(calls, `GET ${path}`, client.send({ method: "GET", url: bench.baseUrl + path, headers }));
  const workers = surroundings === "beside 20 workers" ? startWorkers(bench, headers, delay) : undefined;
  const isInTime = await behaviour.act({
    get: (path) => get(clients[0], path),
    other: (path) => get(clients[1], path),
    post: (key) => noted(calls, `POST ${key}`, clients[0].send(orderOf(bench, headers, key))),
    wait: (milliseconds = delay) => sleep(milliseconds),
    random: (name) => random.fraction("jitter", surroundings, run.number, name),
    createCustomer: (id) => bench.records.make({ kind: "customer", merchant, id }),
    async fault(action, times, operation) {
      const wanted = (
        operation === undefined ? ["pricing_rules.create", "payments.list"] : [operation ?? []].flat()
      ) as OperationPattern[];
      const rule = {
        action,
        trigger: { times },
        match: { merchant, ...(wanted.length > 0 ? { operation: wanted } : {}) },
      };
      if (armsItself) await clients[0].send(json(`${bench.url}/_sandbox/faults`, rule));
      else await bench.faults.add(rule);
    },
  } satisfies Actions);
  const { data } = await bench.verdicts.list({ merchant });
  // Provisional verdicts have no id, and are not in the live stream.
  const verdicts = [...(published.get(merchant)?.values() ?? []), ...data.filter(({ id }) => id === null)];
  published.delete(merchant);
  await workers?.stop();
  for (const client of clients) client.close();
  await bench.merchants.remove({ id: merchant });
  return { isInTime: isInTime !== false, verdicts, calls };
}

const json = (url: string, body: object, headers: Record<string, string> = {}) => ({
  method: "POST" as const,
  url,
  headers: { ...headers, "content-type": "application/json" },
  body: JSON.stringify(body),
});

const ORDER = { name: "Low", adjustmentType: "fixed", adjustmentValue: 5 };

const orderOf = ({ baseUrl }: Bench, headers: Record<string, string>, key: string | undefined) =>
  json(`${baseUrl}/hospitality/pricing-rules`, ORDER, { ...headers, ...(key ? { "idempotency-key": key } : {}) });

/** Records a call. Some libraries throw for a 4xx or 5xx, and all libraries throw if the response is lost. */
async function noted(calls: string[], what: string, sent: Promise<unknown>): Promise<void> {
  const started = Math.round(performance.now());
  const result = await sent.then(
    () => "",
    (error: Error) => error.message.slice(0, 60),
  );
  calls.push(`${what} at ${started} for ${Math.round(performance.now() - started)} ms ${result}`);
}

/** Starts 20 workers that use the same API key but read another path. Each makes a few calls during the run. */
function startWorkers({ baseUrl }: Bench, headers: Record<string, string>, delay: number) {
  let isOver = false;
  const client = transports["http.Agent with keep-alive"]?.();
  const pause = Math.max(2_000, delay);
  const workers = Array.from({ length: 20 }, async (_, number) => {
    for (let round = 0; !isOver; round++) {
      await client?.send({ method: "GET", url: `${baseUrl}/merchants/me`, headers }).catch(() => {});
      await sleep(pause * (0.5 + random.fraction("worker", number, round)));
    }
  });
  return {
    async stop() {
      isOver = true;
      client?.close();
      await Promise.all(workers);
    },
  };
}

type Outcome = "pass" | "fail" | "inconclusive";

function outcomeOf({ behaviour }: Run, found: readonly Found[]): { outcome: Outcome; isRight: boolean } {
  const { fails, mayFail = [], passes = [], open = [] } = behaviour;
  const rulesWith = (wanted: Outcome) =>
    [...new Set(found.filter(({ verdict }) => verdict === wanted).map(({ rule }) => rule))].sort();
  const failed = rulesWith("fail");
  const unsure = rulesWith("inconclusive").filter((rule) => !open.includes(rule));
  const unlessFailed = unsure.length > 0 ? "inconclusive" : "pass";
  const outcome = failed.length > 0 ? "fail" : unlessFailed;
  const isDecided = (rule: string) => unsure.includes(rule) || rulesWith("pass").includes(rule);
  const isMissed = (rule: string) => !failed.includes(rule) && !unsure.includes(rule);
  return {
    outcome,
    isRight:
      failed.every((rule) => [...fails, ...mayFail].includes(rule)) && !fails.some(isMissed) && passes.every(isDecided),
  };
}

/** Keeps every core busy. */
function loadMachine() {
  const workers = Array.from({ length: availableParallelism() }, () => new Worker("for (;;);", { eval: true }));
  return () => Promise.all(workers.map((worker) => worker.terminate()));
}

const MOST_LINES = 30;

type Row = Record<Outcome | "wrong" | "too slow", number>;

test.runIf(RUNS > 0)(
  `each behaviour gets the right verdict with each client, delay and load${needs(RUNS > 0, "npm run verdicts")}`,
  { timeout: 36_000_000 },
  async () => {
    const bench = await share({ clock: "real" });
    collectVerdicts(bench);
    const rows = new Map<string, Row>(
      chosen.map(({ name }) => [name, { pass: 0, fail: 0, inconclusive: 0, wrong: 0, "too slow": 0 }]),
    );
    const wrong: string[] = [];
    const count = (run: Run, { isInTime, verdicts, calls }: RunResult) => {
      const row = rows.get(run.behaviour.name) as Row;
      if (!isInTime) return void row["too slow"]++;
      const { outcome, isRight } = outcomeOf(run, verdicts);
      row[outcome]++;
      if (isRight) return;
      row.wrong++;
      const { fails, passes = [] } = run.behaviour;
      const isTelling = ({ rule, verdict }: Found) =>
        verdict !== "pass" || fails.includes(rule) || passes.includes(rule);
      const telling = verdicts.filter(isTelling).slice(-MOST_LINES);
      const said = telling.map(({ rule, verdict, message }) => `${verdict} ${rule}: ${message}`);
      const { behaviour, transport, delay, surroundings, armsItself } = run;
      const setUp = armsItself ? "armed by the client" : "armed from outside";
      wrong.push(
        [
          `${behaviour.name}, ${transport}, ${delay} ms, ${surroundings}, ${setUp}`,
          ...said,
          ...calls.slice(-MOST_LINES),
        ].join("\n  "),
      );
    };
    for (const surroundings of SURROUNDINGS) {
      const stop = surroundings === "on a loaded machine" ? loadMachine() : undefined;
      let next = 0;
      const performAll = async () => {
        for (let number = next++; number < RUNS / SURROUNDINGS.length; number = next++) {
          const run = runOf(number, surroundings);
          count(run, await perform(bench, run));
        }
      };
      await Promise.all(Array.from({ length: CONCURRENT[surroundings] }, performAll));
      await stop?.();
    }
    await bench.close();
    console.table([...rows].map(([behaviour, row]) => ({ behaviour, ...row })));
    expect(wrong).toEqual([]);
    const undecided = chosen.filter(
      ({ name, isByMilliseconds }) => !isByMilliseconds && (rows.get(name)?.inconclusive ?? 0) > 0,
    );
    expect(undecided).toEqual([]);
  },
);
