// Runs every test that attempts an attack, and prints each row of SECURITY.md with its attempts and how many were refused.
// A test that fails may have refused some of its attempts; none of them is counted as refused.

import { readdirSync, readFileSync } from "node:fs";
import { startVitest } from "vitest/node";

const [, section] = readFileSync("SECURITY.md", "utf8").split("## What is defended");
const [, , ...table] = section.split("\n## ")[0].match(/^\|.*$/gm);
const rows = table.map((line) => line.split("|")[1].trim());
const files = readdirSync("test", { recursive: true })
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => `test/${name}`)
  .filter((path) => readFileSync(path, "utf8").includes("attempted("));

const vitest = await startVitest("test", files, { run: true, watch: false, reporters: ["dot"] });
const found = new Map(rows.map((row) => [row, { attempts: 0, refused: 0 }]));
for (const module of vitest.state.getTestModules())
  for (const test of module.children.allTests())
    for (const [row, count] of Object.entries(test.meta().attacks ?? {})) {
      const sum = found.get(row) ?? { attempts: 0, refused: 0 };
      sum.attempts += count;
      if (test.result().state === "passed") sum.refused += count;
      found.set(row, sum);
    }
await vitest.close();

const line = (row, attempts, refused) => `${row.padEnd(72)} ${String(attempts).padStart(9)} ${String(refused).padStart(9)}`;
console.log(line("attack", "attempts", "refused"));
for (const [row, { attempts, refused }] of found) console.log(line(row, attempts, refused));
const open = [...found].filter(([, { attempts, refused }]) => attempts === 0 || refused < attempts).map(([row]) => row);
if (open.length > 0) console.error(`Not refused, or not attempted: ${open.join("; ")}`);
// startVitest() has set the code already if a test failed or a file could not be loaded.
process.exitCode = open.length > 0 ? 1 : process.exitCode;
