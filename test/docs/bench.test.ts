// The benchmarks and their pages: bench/README.md shows the declared rows, docs/performance.md some of their figures, and the cuts of the stage benchmark match the sources.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");

interface Part {
  name: string;
  rows: { what: string; against: string; target?: string }[];
}

interface Page {
  readFigures(page: string): { rows: string[][]; told: Map<string, string> };
  withSummary(page: string, rows: string[][]): string;
}

interface Edit {
  file: string;
  find: string;
  replace: string;
}

const load = <Module>(file: string) => import(join(root, "bench", file)) as Promise<Module>;

const { parts } = await load<{ parts: Part[] }>("parts.js");
const { readFigures, withSummary } = await load<Page>("page.js");
const page = readFileSync(join(root, "bench/README.md"), "utf8");

test("the page has the declared rows of each part, each with a figure, and the machine of each part", () => {
  const { rows, told } = readFigures(page);
  const declared = parts.flatMap(({ name, rows: own }) => own.map(({ what, against, target = "" }) => [name, what, against, target]));
  expect(declared.length).toBeGreaterThan(60);
  expect(rows.map(([name, what, against, , , target]) => [name, what, against, target])).toEqual(declared);
  expect(rows.filter(([, , , figure]) => figure === "")).toEqual([]);
  // The page describes how each part was measured.
  expect(new Set(told.keys())).toEqual(new Set(parts.map(({ name }) => name)));
});

test("docs/performance.md shows the figures of the page", () => {
  const summary = readFileSync(join(root, "docs/performance.md"), "utf8");
  expect(summary).toContain("| mountebank ");
  expect(withSummary(summary, readFigures(page).rows)).toBe(summary);
});

test("each cut of the stage benchmark matches the sources", async () => {
  const { cuts } = await load<{ cuts: Record<string, Edit[]> }>("parts/stages.js");
  const { edited } = await load<{ edited(edit: Edit): string }>("variants.js");
  const edits = Object.values(cuts).flat();
  expect(edits.length).toBeGreaterThan(6);
  for (const edit of edits) expect(edited(edit)).toContain(edit.replace);
  expect(() => edited({ file: "src/http/pipeline.ts", find: "no such stage", replace: "" })).toThrow("not exactly one");
});
