// What every part needs: servers in processes of their own, work done in turn, medians, and figures as they are shown.

import { fork } from "node:child_process";
import { once } from "node:events";
import { giveCoreBack, holdCore } from "./cores.js";
import { load } from "./load.js";

const setting = (name, fallback) => Number(process.env[`BENCH_${name}`] ?? fallback);

/** How many slices of time are measured of each case, and how long each lasts. */
export const SLICES = setting("SLICES", 20);
export const SECONDS = setting("SECONDS", 0.3);
/** In how many processes of each server, one after the other. */
const ROUNDS = setting("ROUNDS", 4);
/** As many do of what takes longer than a slice. */
export const FEW = Math.min(SLICES, 8);
/** How often a process is started. */
export const RUNS = setting("RUNS", 11);
/** How many requests a server answers while its memory is watched. */
export const REQUESTS = setting("REQUESTS", 1_000_000);
/** How large a file may be made; sizes beyond it are left out. */
export const ROWS = setting("ROWS", 10_000_000);

export const median = (values) => [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)];

/** A figure as it is shown: three digits that mean something. */
export function figure(value, unit = "") {
  const digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  return `${value.toFixed(digits)}${unit}`;
}

/** One of the servers of servers.js, listening. */
export async function open(name, { words = [], execArgv = [], execPath = process.execPath } = {}) {
  const child = fork(new URL("./servers.js", import.meta.url), [name, ...words], {
    execArgv,
    execPath,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const [said] = await Promise.race([once(child, "message"), once(child, "exit")]);
  if (typeof said?.port !== "number") throw new Error(`the server ${name} ended before it listened`);
  holdCore(child.pid);
  return { child, port: said.port, close: () => closed(child) };
}

async function closed(child) {
  const ended = once(child, "exit");
  child.disconnect();
  await ended;
  giveCoreBack();
}

/** The CPU time that a server has used, in milliseconds. */
export async function cpuOf(server) {
  const { cpu } = await ask(server, "cpu");
  return (cpu.user + cpu.system) / 1_000;
}

/** What a server has in memory after it threw away what it can, in bytes. It must have been opened with --expose-gc. */
export const memoryOf = (server) => ask(server, "memory");

async function ask({ child }, question) {
  child.send(question);
  const [answer] = await once(child, "message");
  return answer;
}

/** What a server does in one slice of time. */
export async function slice(server, request, { seconds = SECONDS, cpu = cpuOf, ...more } = {}) {
  const before = await cpu(server);
  const result = await load({ port: server.port, seconds, requests: request, ...more });
  if (result.refused > 0) throw new Error(`${result.refused} of ${result.answered} requests were refused: ${result.refusal}`);
  return { rate: result.rate, cpu: ((await cpu(server)) - before) / result.answered };
}

/** Milliseconds that each case is measured in vain, and how often at the least: before that, Node has not compiled what runs most. */
const WARM_UP = 1_500;
const WARM_UPS = 3;

/** Measures each case once in every turn: each turn begins with another, and every second goes backwards, so that none always comes after the same. */
export async function inTurn(cases, measure, turns = SLICES) {
  const results = new Map(cases.map((one) => [one.name, []]));
  for (const one of cases) {
    const until = performance.now() + WARM_UP;
    for (let times = 0; times < WARM_UPS || performance.now() < until; times++) await measure(one);
  }
  for (let turn = 0; turn < turns; turn++) {
    for (let place = 0; place < cases.length; place++) {
      const one = cases.at(turn % 2 === 0 ? (turn + place) % cases.length : (turn - place) % cases.length);
      results.get(one.name).push(await measure(one));
    }
  }
  return results;
}

/** Servers by their names, each of which is one of servers.js. */
export const openEach = async (names) => new Map(await Promise.all(names.map(async (name) => [name, await open(name)])));

/**
 * Measures on servers that `openAll` opens, by their names: on new ones in each round, because two processes of one program differ by a tenth
 * for as long as they live. `measure` is given these, and how many turns to take.
 */
export async function inRounds(openAll, measure, turns = SLICES) {
  const results = new Map();
  for (let round = 0; round < ROUNDS; round++) {
    const servers = await openAll();
    const measured = await measure(servers, Math.ceil(turns / ROUNDS));
    for (const [name, slices] of measured) results.set(name, [...(results.get(name) ?? []), ...slices]);
    for (const server of servers.values()) await server.close();
  }
  return results;
}

/** Of each turn its own ratio: what else the machine did then, it did to both. */
export const ratio = (results, name, base, field) =>
  median(results.get(name).map((measured, turn) => measured[field] / results.get(base)[turn][field]));

/** A row of a case that the bench may have been told to leave out. */
export const ifMeasured = (row) => ({ ...row, read: (results) => (results.has(row.what) ? row.read(results) : { figure: "left out" }) });

/** A row that shows the rate and the CPU time of one case as ratios to those of another. */
export const rateAndCpu = (row) => ({
  ...row,
  read: (results) => ({
    figure: figure(ratio(results, row.what, row.against, "rate")),
    cpu: figure(ratio(results, row.what, row.against, "cpu")),
  }),
});
