// Helpers of all parts: servers in separate processes, alternating slices, medians, and the format of figures.

import { fork } from "node:child_process";
import { once } from "node:events";
import { giveCoreBack, holdCore } from "./cores.js";
import { load } from "./load.js";

const setting = (name, fallback) => Number(process.env[`BENCH_${name}`] ?? fallback);

/** The number of slices per case, and the length of each in seconds. */
export const SLICES = setting("SLICES", 20);
export const SECONDS = setting("SECONDS", 0.3);
/** The number of processes of each server, which run one after another. */
const ROUNDS = setting("ROUNDS", 4);
/** The number of repetitions of a measurement that takes longer than a slice. */
export const FEW = Math.min(SLICES, 8);
/** The number of process starts. */
export const RUNS = setting("RUNS", 11);
/** The number of requests of the memory part. */
export const REQUESTS = setting("REQUESTS", 1_000_000);
/** Minutes for which the page part watches the page. */
export const MINUTES = setting("MINUTES", 10);
/** The largest number of rows in a file; larger sizes are skipped. */
export const ROWS = setting("ROWS", 10_000_000);

export const median = (values) => [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)];

/** Formats a figure with three significant digits. */
export function figure(value, unit = "") {
  const fewDigits = value < 100 ? 1 : 0;
  const digits = value < 10 ? 2 : fewDigits;
  return `${value.toFixed(digits)}${unit}`;
}

/** Starts the server with this name from servers.js. */
export async function open(name, { words = [], execArgv = [], execPath = process.execPath } = {}) {
  const child = fork(new URL("./servers.js", import.meta.url), [name, ...words], {
    execArgv,
    execPath,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const [said] = await Promise.race([once(child, "message"), once(child, "exit")]);
  if (typeof said?.port !== "number") throw new Error(`the server ${name} ended before it listened`);
  holdCore(child.pid);
  return { child, ...said, close: () => closed(child) };
}

async function closed(child) {
  const ended = once(child, "exit");
  child.disconnect();
  await ended;
  giveCoreBack();
}

/** CPU time used by a server, in milliseconds. */
export async function cpuOf(server) {
  const { cpu } = await ask(server, "cpu");
  return (cpu.user + cpu.system) / 1_000;
}

/** Memory of a server after garbage collection, in bytes. The server needs --expose-gc. */
export const memoryOf = (server) => ask(server, "memory");

/**
 * The longest time, in milliseconds, for which a server's event loop was blocked since the last call of this function.
 * The first call returns 0.
 */
export const stallOf = async (server) => (await ask(server, "stall")).stall;

async function ask({ child }, question) {
  child.send(question);
  const [answer] = await once(child, "message");
  return answer;
}

/** The figures of one server in one slice. */
export async function slice(server, request, { seconds = SECONDS, cpu = cpuOf, ...more } = {}) {
  const before = await cpu(server);
  const result = await load({ port: server.port, seconds, requests: request, ...more });
  if (result.refused > 0)
    throw new Error(`${result.refused} of ${result.answered} requests were refused: ${result.refusal}`);
  return { rate: result.rate, cpu: ((await cpu(server)) - before) / result.answered };
}

/**
 * The warm-up of each case: milliseconds, and the minimum number of runs. V8 needs this long to compile the hot code.
 */
const WARM_UP = 1_500;
const WARM_UPS = 3;

/**
 * Measures each case once per turn. Each turn starts with the next case, and every second turn has the reverse order,
 * so that no case always follows the same case.
 */
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

/** Starts the servers with these names from servers.js. Resolves to a map by name. */
export const openEach = async (names) =>
  new Map(await Promise.all(names.map(async (name) => [name, await open(name)])));

/**
 * Measures servers that `openAll` opens. Each round opens new servers, because a process can be a tenth faster or
 * slower than another process of the same program. `measure` receives the servers and the number of turns.
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

/** The median of the ratios within each turn. Other load on the machine affects both sides of a turn. */
export const ratio = (results, name, base, field) =>
  median(results.get(name).map((measured, turn) => measured[field] / results.get(base)[turn][field]));

/** The same row, for a case that may have been skipped. */
export const ifMeasured = (row) => ({
  ...row,
  read: (results) => (results.has(row.what) ? row.read(results) : { figure: "left out" }),
});

/** The same row, with the rate and the CPU time of its case as ratios to another case. */
export const rateAndCpu = (row) => ({
  ...row,
  read: (results) => ({
    figure: figure(ratio(results, row.what, row.against, "rate")),
    cpu: figure(ratio(results, row.what, row.against, "cpu")),
  }),
});
