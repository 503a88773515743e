// The benchmarks and their page: the page shows the declared rows, and the cuts of the stage benchmark match the sources.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");

interface Figures {
  figure: string;
  cpu?: string;
}

interface Part {
  name: string;
  rows: { what: string; against: string; target?: string; read(measured: unknown): Figures }[];
}

interface Page {
  readFigures(page: string): { rows: string[][]; told: Map<string, string> };
  rowsOf(part: Part, measured: unknown): string[][];
  withFigures(page: string, parts: Part[], measured: Map<string, unknown>, text: string): string;
}

interface Edit {
  file: string;
  find: string;
  replace: string;
}

const load = <Module>(file: string) => import(join(root, "bench", file)) as Promise<Module>;

const { parts } = await load<{ parts: Part[] }>("parts.js");
const { readFigures, rowsOf, withFigures } = await load<Page>("page.js");
const page = readFileSync(join(root, "docs/performance.md"), "utf8");

test("the page has the declared rows of each part, each with a figure, and the machine of each part", () => {
  const { rows, told } = readFigures(page);
  const declared = parts.flatMap(({ name, rows: own }) => own.map(({ what, against, target = "" }) => [name, what, against, target]));
  expect(declared.length).toBeGreaterThan(60);
  expect(rows.map(([name, what, against, , , target]) => [name, what, against, target])).toEqual(declared);
  expect(rows.filter(([, , , figure]) => figure === "")).toEqual([]);
  // The page describes how each part was measured.
  expect(new Set(told.keys())).toEqual(new Set(parts.map(({ name }) => name)));
});

test("the page describes each part", () => {
  expect([...page.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name)).toEqual(parts.map(({ name }) => name));
});

describe("a table of figures", () => {
  const part = (name: string, target: string): Part => ({
    name,
    rows: [{ what: "a call", against: "nothing", target, read: (measured) => measured as Figures }],
  });
  const some = [part("one", ">= 0.40"), part("two", "<= 1.1 of CPU time"), part("three", "within noise")];
  const empty = "# Page\n\n<!-- figures: npm run bench -- --write -->\n<!-- end of figures -->\n\nMore.\n";

  test("says whether a target is met, by the figure or by the CPU time, and nothing without a target", () => {
    const met = (target: string, measured: Figures) => rowsOf(part("one", target), measured)[0]?.at(-1);
    expect(met(">= 0.40", { figure: "0.41" })).toBe("yes");
    expect(met(">= 0.40", { figure: "0.39" })).toBe("no");
    expect(met("<= 10 ms", { figure: "10.1 ms" })).toBe("no");
    expect(met("<= 1.1 of CPU time", { figure: "2.0", cpu: "1.10" })).toBe("yes");
    expect(met("> 1", { figure: "0.98 (it has 0.2 of bare)" })).toBe("no");
    expect(met("> 1", { figure: "not measured: it did not start" })).toBe("");
    expect(met("within noise", { figure: "0.99" })).toBe("");
    expect(met("", { figure: "0.99" })).toBe("");
  });

  test("is written for the measured parts, and keeps the rows of the others", () => {
    const all = new Map(some.map(({ name }) => [name, { figure: "0.50", cpu: "2.0" }]));
    const first = withFigures(empty, some, all, "Node 20");
    expect(first).toContain("| one | a call | nothing | 0.50 | 2.0 | >= 0.40 | yes |");
    expect(first).toContain("\n- one, two, three: Node 20\n");
    expect([first.startsWith("# Page\n\n<!--"), first.endsWith("-->\n\nMore.\n")]).toEqual([true, true]);

    const second = withFigures(first, some, new Map([["two", { figure: "0.70", cpu: "1.2" }]]), "Node 24");
    expect(readFigures(second).rows).toEqual([
      ["one", "a call", "nothing", "0.50", "2.0", ">= 0.40", "yes"],
      ["two", "a call", "nothing", "0.70", "1.2", "<= 1.1 of CPU time", "no"],
      ["three", "a call", "nothing", "0.50", "2.0", "within noise", ""],
    ]);
    expect([...readFigures(second).told]).toEqual([
      ["one", "Node 20"],
      ["three", "Node 20"],
      ["two", "Node 24"],
    ]);
    expect(withFigures(second, some, new Map(), "")).toBe(second);
  });

  test("throws an error for a page without a table", () => {
    expect(() => readFigures("# Page\n")).toThrow("docs/performance.md must have a line");
  });
});

test("each cut of the stage benchmark matches the sources", async () => {
  const { cuts } = await load<{ cuts: Record<string, Edit[]> }>("parts/stages.js");
  const { edited } = await load<{ edited(edit: Edit): string }>("variants.js");
  const edits = Object.values(cuts).flat();
  expect(edits.length).toBeGreaterThan(6);
  for (const edit of edits) expect(edited(edit)).toContain(edit.replace);
  expect(() => edited({ file: "src/http/pipeline.ts", find: "no such stage", replace: "" })).toThrow("not exactly one");
});
