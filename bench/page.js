// Formats the figures as a table, and writes the table to bench/README.md. If only some parts are measured, only their
// rows are replaced. docs/performance.md gets the figures that users notice, and the comparison with other emulators.

import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";

const PAGE = new URL("README.md", import.meta.url);
const SUMMARY = new URL("../docs/performance.md", import.meta.url);
const BEGIN = "<!-- figures: npm run bench -- --write -->";
const END = "<!-- end of figures -->";
const HEAD = ["part", "what", "against", "figure", "CPU time", "target", "met"];

/** The rows of a part, as cells with the figures of the measurement. */
export const rowsOf = ({ name, rows }, measured) =>
  rows.map(({ what, against, target = "", read }) => {
    const { figure, cpu = "" } = read(measured);
    return [name, what, against, figure, cpu, target, met(target.endsWith("CPU time") ? cpu : figure, target)];
  });

/** Whether a figure meets its target; empty without a target. */
function met(figure, target) {
  const [, sign, bound] = /^([<>])=? ([\d.]+)/.exec(target) ?? [];
  const value = Number.parseFloat(figure);
  if (sign === undefined || Number.isNaN(value)) return "";
  const isMet = sign === "<" ? value <= Number(bound) : value >= Number(bound);
  return isMet ? "yes" : "no";
}

const tableOf = (head, rows) =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

export const table = (rows) => tableOf(HEAD, rows);

/** The conditions of the measurement, as one line. */
export const provenance = (slices, seconds) =>
  `Node ${process.versions.node}, ${availableParallelism()} cores, ${slices} slices of ${seconds} s`;

/** Reads the page: its rows as cells, and the conditions under which each part was measured. */
export function readFigures(page) {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin === -1 || end < begin) throw new Error(`The page must have a line ${BEGIN} and after it a line ${END}`);
  const lines = page.slice(begin + BEGIN.length, end).split("\n");
  const rows = lines.filter((line) => line.startsWith("| ")).map((line) => line.slice(2, -2).split(" | "));
  const told = lines.flatMap((line) => {
    const [, parts, text] = /^- (.*?): (.*)$/.exec(line) ?? [];
    return parts === undefined ? [] : parts.split(", ").map((part) => [part, text]);
  });
  return {
    before: page.slice(0, begin),
    after: page.slice(end + END.length),
    rows: rows.slice(2),
    told: new Map(told),
  };
}

/** The page with the new rows of the measured parts, in the order of all parts. Other parts keep their rows. */
export function withFigures(page, parts, measured, text) {
  const { before, after, rows, told } = readFigures(page);
  const all = parts.flatMap((part) => {
    const now = measured.get(part.name);
    return now ? rowsOf(part, now) : rows.filter(([name]) => name === part.name);
  });
  for (const name of measured.keys()) told.set(name, text);
  const texts = [...new Set(parts.map(({ name }) => told.get(name)).filter((one) => one !== undefined))];
  const lines = texts.map(
    (one) =>
      `- ${parts
        .map(({ name }) => name)
        .filter((name) => told.get(name) === one)
        .join(", ")}: ${one}`,
  );
  return `${before}${BEGIN}\n\n${table(all)}\n\n${lines.join("\n")}\n\n${END}${after}`;
}

/** What a test can use, what that isolates, and the row of the part `start` with its cost. */
const CHOICES = [
  [
    "A sandbox of its own: `createSandbox()`",
    "everything: data, clock, faults, rate limits, logs, verdicts, ids",
    "createSandbox(), one answer, close()",
  ],
  [
    "A merchant of its own: the [fixture](library.md#vitest), or `ownMerchant()`",
    "data, keys, faults, rate limits, requests, webhooks, verdicts, ids; " +
      "tests share the clock and a reset of everything",
    "ownMerchant(), one answer, remove()",
  ],
  ["A seeded merchant, shared", "nothing: each test finds what the others left", "one answer"],
  [
    "The same, reset before each test",
    "data, keys, faults and logs, if tests run one after another",
    "sandbox.reset(), one merchant",
  ],
];

/** The figures that a user notices, by the part and the row that measure them. */
const NOTICED = [
  ["The command until its first response", "start", "command to first 200, memory"],
  ["`createSandbox()` in a test", "start", "createSandbox() in memory"],
  ["A reset of everything", "start", "sandbox.reset(), everything"],
  ["A merchant for a test", "start", "sandbox.merchants.add()"],
  [
    "A webhook, after the response that caused it",
    "deliveries",
    "median delay between the API response and its webhook",
  ],
  ["The dashboard: a key until the screen shows it", "dashboard", "median time from key to whole frame"],
  [
    "The dashboard: CPU while the sandbox is under full load",
    "dashboard",
    "CPU of a core, dashboard attached to a server under full load",
  ],
  ["Packages to install", "npx", "packages installed, Node 24, npm 12"],
  ["Megabytes to install", "npx", "megabytes installed, all, Node 24, npm 12"],
];

const PEER_COLUMNS = ["GET a record by id, file", "POST that makes a record, memory", "POST that makes a record, file"];

/** docs/performance.md with the figures from these rows. */
export function withSummary(page, rows) {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  const plain = (figure) => figure.replace(/ \(.*/, "");
  const figureOf = (part, what) => rows.find((row) => row[0] === part && row[1] === what);
  const noticed = NOTICED.map(([text, part, what]) => {
    const [, , against, figure] = figureOf(part, what);
    return [text, against === "" ? plain(figure) : `${plain(figure)} times ${against}`];
  });
  const peerRows = rows.filter(([part]) => part === "peers");
  const peers = [...new Set(peerRows.map(([, , against]) => against))].map((peer) => [
    peer.replace(", both on Node 24", ""),
    ...PEER_COLUMNS.map((column) =>
      plain(peerRows.find(([, what, against]) => what === column && against === peer)[3]),
    ),
  ]);
  const cpuOf = (what) => Number.parseFloat(figureOf("start", what)[3]);
  const answer = cpuOf("one answer");
  const choices = CHOICES.map(([text, isolates, what]) => {
    // A reset is measured without a call. The other rows include a call.
    const cost = cpuOf(what) + (what.startsWith("sandbox.reset") ? answer : 0);
    return [text, isolates, `${cost.toFixed(1)} ms`];
  });
  const tables = [
    tableOf(["What a test uses", "What that isolates", "CPU time, with one call"], choices),
    tableOf(["What you notice", "Figure"], noticed),
    "Requests per second, as a multiple of the other emulator's:",
    tableOf(["Instead", "Reads", "Writes, both in memory", "Writes, the sandbox to a file"], peers),
  ];
  return `${page.slice(0, begin)}${BEGIN}\n\n${tables.join("\n\n")}\n\n${page.slice(end)}`;
}

export function writeFigures(parts, measured, text) {
  const page = withFigures(readFileSync(PAGE, "utf8"), parts, measured, text);
  writeFileSync(PAGE, page);
  writeFileSync(SUMMARY, withSummary(readFileSync(SUMMARY, "utf8"), readFigures(page).rows));
}
