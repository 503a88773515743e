// Runs every test that attempts an attack. Prints each row of SECURITY.md with the number of attempts and of refused
// attempts. If a test fails, none of its attempts counts as refused, although some may have been. `npm run attack --
// --write` writes the counts into the table of SECURITY.md.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { startVitest } from "vitest/node";

const page = readFileSync("SECURITY.md", "utf8");
const [, section] = page.split("## What is defended");
const [head, rule, ...table] = section.split("\n## ")[0].match(/^\|.*$/gm);
const rows = table.map((line) => line.split("|")[1].trim());
const files = readdirSync("test", { recursive: true })
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => `test/${name}`)
  .filter((path) => readFileSync(path, "utf8").includes("attempted("));

const vitest = await startVitest("test", files, {
  run: true,
  project: ["quick", "slow"],
  watch: false,
  reporters: ["dot"],
});
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

const grouped = (count) => count.toLocaleString("en-US");
const line = (row, attempts, refused) =>
  `${row.padEnd(72)} ${String(attempts).padStart(9)} ${String(refused).padStart(9)}`;
console.log(line("attack", "attempts", "refused"));
for (const [row, { attempts, refused }] of found) console.log(line(row, attempts, refused));
const open = [...found].filter(([, { attempts, refused }]) => attempts === 0 || refused < attempts).map(([row]) => row);
if (open.length > 0) console.error(`Not refused, or not attempted: ${open.join("; ")}`);
if (process.argv.includes("--write")) {
  const counted = table.map((line, index) => {
    const { attempts, refused } = found.get(rows[index]);
    const [, attack, defence] = line.split("|");
    return `|${attack}|${defence}| ${grouped(attempts)} | ${grouped(refused)} |`;
  });
  const lines = ["| Attack | Defence | Attempts | Refused |", "|---|---|--:|--:|", ...counted];
  writeFileSync("SECURITY.md", page.replace([head, rule, ...table].join("\n"), lines.join("\n")));
}
// startVitest() has already set the exit code if a test failed or a file could not be loaded.
process.exitCode = open.length > 0 ? 1 : process.exitCode;
