// The cost of the dashboard: for its server, for a first frame, for a key press, and for concurrent calls.

import { fileURLToPath } from "node:url";
import { load } from "../load.js";
import { figure, inRounds, inTurn, median, open, RUNS, rateAndCpu, ratio, SECONDS, SLICES, slice } from "../measure.js";
import { GET } from "../sample-record.js";
import { openTerminal } from "../terminal.js";

const SERVERS = fileURLToPath(new URL("../servers.js", import.meta.url));
const INK_PROGRAM = fileURLToPath(new URL("../ink-program.js", import.meta.url));
const KEYS = 100;
const LIVE = /LIVE.*?http:\/\/127\.0\.0\.1:(\d+)/s;
const START = ["start", "--memory", "--port", "0", "--rate-limit", "none"];

const OPEN = "GET a record by id, dashboard open";
const CLOSED = "GET a record by id, dashboard closed";
const FRAME = "command to first frame";
const ONE_LINE = "a program of Ink with one line";

const throughputRow = rateAndCpu({ what: OPEN, against: CLOSED, target: ">= 0.95" });

const row = (what, against, target, read) => ({
  what,
  against,
  target,
  read: (results) => ({ figure: read(results) }),
});

export const dashboard = {
  name: "dashboard",
  rows: [
    { ...throughputRow, read: ({ rates }) => throughputRow.read(rates) },
    row("CPU of a core, dashboard attached to a server under full load", "", "<= 8 %", ({ attached }) =>
      figure(attached * 100, " %"),
    ),
    row(FRAME, ONE_LINE, "<= 1.4", ({ frame }) => figure(ratio(frame, FRAME, ONE_LINE, "time"))),
    row("median time from key to whole frame", "", "<= 16 ms", ({ key }) => figure(key, " ms")),
    row("slowest request while the terminal has stopped reading", "", "<= 150 ms", ({ frozen }) =>
      figure(frozen, " ms"),
    ),
  ],
  async measure() {
    const rates = await throughput();
    const [attached, frame, key, frozen] = [
      await attachedShare(),
      await firstFrame(),
      await keyToScreen(),
      await frozenReader(),
    ];
    return { rates, attached, frame, key, frozen };
  },
};

const drive = ({ port }) => load({ port, seconds: SECONDS, requests: GET });

async function opened() {
  const terminal = openTerminal(START);
  const [, port] = await terminal.shows(LIVE);
  return { terminal, port: Number(port) };
}

/** Both servers run on a terminal of their own, because the scheduler treats processes on a terminal differently. */
function throughput() {
  const measure = (servers, turns) =>
    inTurn(
      [...servers].map(([name, server]) => ({ name, ...server })),
      (one) => slice(one, GET, { cpu: ({ cpu }) => cpu() }),
      turns,
    );
  return inRounds(openBoth, measure);
}

async function openBoth() {
  const without = openTerminal(["memory"], { program: SERVERS });
  const [, port] = await without.shows(/listening at (\d+)/);
  const { terminal, port: openPort } = await opened();
  return new Map([
    [CLOSED, { port: Number(port), cpu: without.cpu, close: without.end }],
    [OPEN, { port: openPort, cpu: terminal.cpu, close: terminal.end }],
  ]);
}

/** The CPU time of a dashboard in a separate process, because its share within the server could not be measured. */
async function attachedShare() {
  const server = await open("memory");
  const terminal = openTerminal(["attach", `http://127.0.0.1:${server.port}`]);
  await terminal.shows(LIVE);
  await drive(server);
  const [before, started] = [terminal.cpu(), performance.now()];
  // Measures all slices together, because the system counts CPU time in hundredths of a second.
  for (let turn = 0; turn < SLICES; turn++) await drive(server);
  const share = (terminal.cpu() - before) / (performance.now() - started);
  await terminal.end();
  await server.close();
  return share;
}

function firstFrame() {
  const cases = [
    { name: ONE_LINE, start: () => openTerminal([], { program: INK_PROGRAM }) },
    { name: FRAME, start: () => openTerminal(START) },
  ];
  const timed = async ({ start }) => {
    const started = performance.now();
    const terminal = start();
    await terminal.firstFrame();
    const time = performance.now() - started;
    await terminal.end();
    return { time };
  };
  return inTurn(cases, timed, RUNS);
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
  // Each key paints a whole frame. Together, the frames fill the buffer of a terminal that is not read.
  terminal.type("?q".repeat(KEYS));
  const { latencies } = await load({ port, seconds: 10 * SECONDS, connections: 4, requests: GET });
  await terminal.end();
  return latencies.reduce((worst, latency) => Math.max(worst, latency), 0);
}
