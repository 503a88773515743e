// The diffs of CONTRIBUTING.md apply to this checkout. test/slow/contributing.test.ts runs the checks on the result.

import { cpSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folder } from "../support/program.ts";
import { applyWalk, readWalks } from "../support/walks.ts";

const root = join(import.meta.dirname, "../..");
const walks = readWalks(readFileSync(join(root, "CONTRIBUTING.md"), "utf8"));

test("each section matches the files that it changes", () => {
  const copy = folder();
  for (const { file } of walks.flatMap(({ changes }) => changes)) {
    if (existsSync(join(root, file))) cpSync(join(root, file), join(copy, file));
  }
  for (const walk of walks) expect(() => applyWalk(walk, copy)).not.toThrow();
});
