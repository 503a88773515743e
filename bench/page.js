// The table of figures, printed and written to docs/performance.md, where a part that is measured alone replaces its own rows only.

import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";

const PAGE = new URL("../docs/performance.md", import.meta.url);
const BEGIN = "<!-- figures: npm run bench -- --write -->";
const END = "<!-- end of figures -->";
const HEAD = ["part", "what", "against", "figure", "CPU time", "target", "met"];

/** The rows of a part as cells, each read from the part's measurement. */
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

export const table = (rows) => [HEAD, HEAD.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

/** The conditions of the measurement. */
export const provenance = (slices, seconds) =>
  `Node ${process.versions.node}, ${availableParallelism()} cores, ${slices} slices of ${seconds} s`;

/** Reads the page: its rows as cells, and for each part the conditions of its measurement. */
export function readFigures(page) {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin === -1 || end < begin) throw new Error(`docs/performance.md must have a line ${BEGIN} and after it a line ${END}`);
  const lines = page.slice(begin + BEGIN.length, end).split("\n");
  const rows = lines.filter((line) => line.startsWith("| ")).map((line) => line.slice(2, -2).split(" | "));
  const told = lines.flatMap((line) => {
    const [, parts, text] = /^- (.*?): (.*)$/.exec(line) ?? [];
    return parts === undefined ? [] : parts.split(", ").map((part) => [part, text]);
  });
  return { before: page.slice(0, begin), after: page.slice(end + END.length), rows: rows.slice(2), told: new Map(told) };
}

/** The page with the rows of the measured parts, in the order of all parts; other parts keep their rows. */
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

export function writeFigures(parts, measured, text) {
  writeFileSync(PAGE, withFigures(readFileSync(PAGE, "utf8"), parts, measured, text));
}
