// The stage benchmark edits the sources: each text that an edit replaces occurs in its file exactly once. The page of
// figures says how each part was measured.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const bench = join(import.meta.dirname, "../../bench");

interface Edit {
  file: string;
  find: string;
  replace: string;
}

const load = <Module>(file: string) => import(join(bench, file)) as Promise<Module>;

test("each edit of the stage benchmark finds its text in the sources exactly once", async () => {
  const { cuts } = await load<{ cuts: Record<string, Edit[]> }>("parts/stages.js");
  const { edited } = await load<{ edited(edit: Edit): string }>("variants.js");
  const edits = Object.values(cuts).flat();
  expect(edits.length).toBeGreaterThan(6);
  for (const edit of edits) expect(edited(edit)).toContain(edit.replace);
  expect(() => edited({ file: "src/http/pipeline.ts", find: "no such stage", replace: "" })).toThrow("exactly once");
});

test("bench/README.md says for each part with which Node, cores and slices it was measured", async () => {
  type Figures = { rows: string[][]; told: Map<string, string> };
  const { readFigures } = await load<{ readFigures(page: string): Figures }>("page.js");
  const { rows, told } = readFigures(readFileSync(join(bench, "README.md"), "utf8"));
  for (const part of new Set(rows.map(([name = ""]) => name)))
    expect(told.get(part), part).toMatch(/^Node [\d.]+, \d+ cores, \d+ slices of [\d.]+ s$/);
});
