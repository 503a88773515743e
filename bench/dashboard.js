// What the dashboard costs: the server it runs in, the machine, the patience of whoever presses a key, and of those who call meanwhile.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { bytes, load } from "./load.js";
import { median, open, SECONDS, SLICES, table } from "./measure.js";
import { openTerminal } from "./terminal.js";

const SERVERS = fileURLToPath(new URL("servers.js", import.meta.url));
const RUNS = 9;
const KEYS = 100;
const LIVE = /LIVE.*?http:\/\/127\.0\.0\.1:(\d+)/s;
const START = ["start", "--memory", "--port", "0", "--rate-limit", "none"];

export async function dashboard() {
  const [ratio, attached, frame, key, frozen] = [
    await throughput(),
    await share(),
    await firstFrame(),
    await keyToScreen(),
    await frozenReader(),
  ];
  return table(
    ["dashboard", "cost", "target"],
    [
      ["requests a second with it open, against the same server without", ratio.toFixed(2), ">= 0.95"],
      [`CPU of a core at ${Math.round(attached.rate)} requests/s, attached`, `${(attached.share * 100).toFixed(1)} %`, "<= 5 %"],
      ["command to first frame, against `node -e 0`", frame.toFixed(2), "<= 4.8"],
      ["key to whole frame, in the median", `${key.toFixed(1)} ms`, "<= 10 ms"],
      ["slowest request while the terminal has stopped reading", `${frozen.toFixed(0)} ms`, "<= 150 ms"],
    ],
  );
}

const get = (port) => () => bytes("GET", "/v1/customers/cus_zoe", { Authorization: "Bearer sk_test_lodge" }).replace(":PORT", `:${port}`);

const drive = (port) => load({ port, seconds: SECONDS, requests: get(port) });

async function opened() {
  const terminal = openTerminal(START);
  const [, port] = await terminal.shows(LIVE);
  return { terminal, port: Number(port) };
}

/** Both on a terminal of their own: what a machine gives a process depends on that too. */
async function throughput() {
  const without = openTerminal(["memory"], { program: SERVERS });
  const closed = { port: Number((await without.shows(/listening at (\d+)/))[1]) };
  const { terminal, port } = await opened();
  const rates = { closed: [], open: [] };
  for (let turn = 0; turn <= SLICES; turn++) {
    const measured = { closed: (await drive(closed.port)).rate, open: (await drive(port)).rate };
    if (turn > 0) for (const name of ["closed", "open"]) rates[name].push(measured[name]);
  }
  await without.end();
  await terminal.end();
  return median(rates.open) / median(rates.closed);
}

/** In a process of its own, where its time is nobody else's: it works no more and no less than inside the server. */
async function share() {
  const server = await open("memory");
  const terminal = openTerminal(["attach", `http://127.0.0.1:${server.port}`]);
  await terminal.shows(LIVE);
  const shares = [];
  const rates = [];
  for (let turn = 0; turn <= SLICES; turn++) {
    const [before, started] = [terminal.cpu(), performance.now()];
    const { rate } = await drive(server.port);
    if (turn === 0) continue;
    shares.push((terminal.cpu() - before) / (performance.now() - started));
    rates.push(rate);
  }
  await terminal.end();
  server.child.disconnect();
  return { share: median(shares), rate: median(rates) };
}

async function firstFrame() {
  const nothing = [];
  const first = [];
  for (let run = 0; run <= RUNS; run++) {
    const started = performance.now();
    spawnSync(process.execPath, ["-e", "0"]);
    const between = performance.now();
    const terminal = openTerminal(START);
    await terminal.firstFrame();
    const ended = performance.now();
    await terminal.end();
    if (run === 0) continue;
    nothing.push(between - started);
    first.push(ended - between);
  }
  return median(first) / median(nothing);
}

async function keyToScreen() {
  const { terminal } = await opened();
  const spans = [];
  for (let count = 0; count < KEYS; count++) {
    const started = performance.now();
    await terminal.press(count % 2 === 0 ? "?" : "q");
    spans.push(performance.now() - started);
  }
  await terminal.end();
  return median(spans);
}

async function frozenReader() {
  const { terminal, port } = await opened();
  terminal.freeze();
  // Each of these is a whole frame: more than any terminal takes that nobody reads.
  terminal.type("?q".repeat(KEYS));
  const { latencies } = await load({ port, seconds: 3 * SECONDS, connections: 4, requests: get(port) });
  await terminal.end();
  return latencies.reduce((worst, latency) => Math.max(worst, latency), 0);
}
