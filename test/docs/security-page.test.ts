// The table of SECURITY.md: each row has attempts in the tests that it names, and each attempt has its row.

import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const [, section = ""] = readFileSync(join(root, "SECURITY.md"), "utf8").split("## What is defended");
const [, , ...rows] = section.split("\n## ")[0]?.match(/^\|.*$/gm) ?? [];
const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".test.ts"));

test("each row names exactly the test files that attempt its attack", () => {
  const named = rows.flatMap((row) => {
    const [, attack = "", , tests = ""] = row.split("|").map((cell) => cell.trim());
    return [...tests.matchAll(/`([^`]+)`/g)].map(([, name]) => `${attack}: ${name}`);
  });
  const attempted = files.flatMap((path) =>
    [...readFileSync(join(root, "test", path), "utf8").matchAll(/^\s*attempted\("([^"]+)"/gm)].map(
      ([, attack]) => `${attack}: ${basename(path, ".test.ts")}`,
    ),
  );
  expect(named.length).toBeGreaterThan(rows.length);
  expect(named.toSorted()).toEqual([...new Set(attempted)].toSorted());
});

test("each row has a defence, a test, and an attack of its own", () => {
  const cells = rows.map((row) => row.split("|").map((cell) => cell.trim()));
  expect(cells.filter(({ length }) => length !== 5)).toEqual([]);
  expect(cells.filter((row) => row.slice(1, -1).includes(""))).toEqual([]);
  expect(new Set(cells.map(([, attack]) => attack)).size).toBe(rows.length);
});
