// Reads, a list and writes under the load of wrk, compared with bare node:http. wrk uses less CPU time than load.js.

import { execFile, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { openFolder } from "../folder.js";
import { cpuOf, FEW, figure, inRounds, inTurn, openEach, ratio } from "../measure.js";
import { GET, LIST, POST, POST_WITH_KEY } from "../sample-record.js";

const SECONDS = 1;
const CONNECTIONS = 32;

const BARE_GET = "bare node:http, GET, by wrk";
const BARE_POST = "bare node:http, POST, by wrk";

const cases = [
  { name: BARE_GET, server: "bare", request: GET },
  { name: BARE_POST, server: "bare", request: POST },
  ...["file", "memory"].flatMap((server) => [
    { name: `GET a record by id, ${server}, by wrk`, server, request: GET, base: BARE_GET },
    { name: `GET a list of 25, ${server}, by wrk`, server, request: LIST, base: BARE_GET },
    { name: `POST a pricing rule, ${server}, by wrk`, server, request: POST, base: BARE_POST },
    { name: `POST a payroll with its key, ${server}, by wrk`, server, request: POST_WITH_KEY(), base: BARE_POST },
  ]),
];

/** The ratios of rate and CPU time, with the ratio of the 99th percentiles in parentheses. */
const row = ({ name, base }) => ({
  what: name,
  against: base,
  read: (results) => ({
    figure:
      `${figure(ratio(results, name, base, "rate"))} ` +
      `(99th percentile ${figure(ratio(results, name, base, "p99"))})`,
    cpu: figure(ratio(results, name, base, "cpu")),
  }),
});

export const wrk = {
  name: "wrk",
  rows: cases.filter(({ base }) => base).map(row),
  async measure() {
    if (spawnSync("wrk", ["--version"]).error)
      throw new Error("The part wrk needs the program wrk: install it with apt-get install wrk or brew install wrk.");
    const folder = openFolder();
    const results = await inRounds(
      () => openEach(["bare", "file", "memory"]),
      (servers, turns) => inTurn(cases, ({ server, request }) => load(servers.get(server), request, folder), turns),
      FEW,
    );
    folder.remove();
    return results;
  },
};

async function load(server, request, folder) {
  const script = folder.file("request.lua");
  writeFileSync(script, scriptOf(request));
  const before = await cpuOf(server);
  const words = [
    "-t1",
    `-c${CONNECTIONS}`,
    `-d${SECONDS}s`,
    "--latency",
    "-s",
    script,
    `http://127.0.0.1:${server.port}${request.path}`,
  ];
  const { stdout } = await promisify(execFile)("wrk", words);
  const cpu = (await cpuOf(server)) - before;
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(stdout);
  const [, requests] = /(\d+) requests in/.exec(stdout);
  const [, rate] = /Requests\/sec:\s+([\d.]+)/.exec(stdout);
  const [, value, unit] = /99%\s+([\d.]+)(us|ms|s)/.exec(stdout);
  return { rate: Number(rate), cpu: cpu / Number(requests), p99: Number(value) * { us: 0.001, ms: 1, s: 1_000 }[unit] };
}

/** The script for wrk. Each call with an idempotency key gets a new key, made from the given key and a number. */
function scriptOf({ method, headers, body = "" }) {
  const key = headers["Idempotency-Key"];
  return [
    `wrk.method = ${JSON.stringify(method)}`,
    ...Object.entries(headers).map(
      ([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`,
    ),
    ...(body === "" ? [] : [`wrk.body = ${JSON.stringify(body)}`]),
    ...(key === undefined ? [] : [numbered(`${key}-${performance.now()}`)]),
  ].join("\n");
}

const numbered = (key) => `
local count = 0
function request()
  count = count + 1
  wrk.headers["Idempotency-Key"] = "${key}-" .. count
  return wrk.format()
end`;
