// The table of SECURITY.md: tests attempt the attack of each row, and each attempt has its row.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const [, section = ""] = readFileSync(join(root, "SECURITY.md"), "utf8").split("## What is defended");
const [, , ...rows] = section.split("\n## ")[0]?.match(/^\|.*$/gm) ?? [];
const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".test.ts"));

test("the rows are exactly the attacks that tests attempt", () => {
  const attempted = files.flatMap((path) =>
    [...readFileSync(join(root, "test", path), "utf8").matchAll(/^\s*attempted\("([^"]+)"/gm)].map(([, attack]) => attack),
  );
  expect(attempted.length).toBeGreaterThan(rows.length);
  expect(rows.map((row) => row.split("|")[1]?.trim()).toSorted()).toEqual([...new Set(attempted)].toSorted());
});

test("each row has a defence, an attack of its own, and attempts, which were all refused", () => {
  const cells = rows.map((row) => row.split("|").map((cell) => cell.trim()));
  expect(cells.filter(({ length }) => length !== 6)).toEqual([]);
  expect(cells.filter((row) => row.slice(1, -1).includes(""))).toEqual([]);
  expect(cells.filter(([, , , attempts, refused]) => attempts === "0" || attempts !== refused)).toEqual([]);
  expect(new Set(cells.map(([, attack]) => attack)).size).toBe(rows.length);
});
