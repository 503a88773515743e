// Tries the package on every supported Node: a cold `npx` of the packed package.
// Not part of the check: it needs a registry, minutes, and a POSIX shell. `npm run matrix`, or `npm run matrix -- 24 26`.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { emptyCache, modulesIn, nodeOf, npmOf, npx, pack, packagesIn, run, sizeOf } from "./packing.js";

/** The Node versions and the npm to use with each. npm 12 runs no install scripts, and needs Node 22. */
const ROWS = [
  { node: "20", npm: "10" },
  { node: "22", npm: "10" },
  { node: "22", npm: "12" },
  { node: "24", npm: "12" },
  { node: "26", npm: "12" },
];

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const wanted = process.argv.slice(2);

const work = mkdtempSync(join(tmpdir(), "merchant-sandbox-matrix-"));
try {
  const tarball = pack(root, work);
  console.log("node       npm       better-sqlite3  packages     MB  cold npx  first answer");
  for (const row of ROWS.filter(({ node }) => wanted.length === 0 || wanted.includes(node))) await tryRow(row, tarball);
} finally {
  rmSync(work, { recursive: true, force: true });
}

async function tryRow(row, tarball) {
  const node = nodeOf(row.node);
  const npm = npmOf(row.npm);
  const cache = emptyCache(work);
  const env = { PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
  const { said, time } = npx({ tarball, word: "--version", cwd: work, cache, command: [node, npm], env });

  const modules = modulesIn(cache);
  const packages = packagesIn(modules);
  const megabytes = sizeOf(modules) / 1_048_576;
  const sqlite = packages.find(({ name }) => name === "better-sqlite3")?.version ?? "none";
  const answer = await firstAnswer(node, join(modules, "merchant-sandbox/dist/bin.cjs"));
  const cells = [
    run(node, ["--version"]).trim().padEnd(9),
    run(node, [npm, "--version"], { env }).trim().padEnd(8),
    sqlite.padEnd(14),
    String(packages.length).padStart(8),
    megabytes.toFixed(1).padStart(5),
    `${(time / 1_000).toFixed(1)} s`.padStart(8),
    `${answer} (${said})`,
  ];
  console.log(cells.join("  "));
  if (answer !== 200) process.exitCode = 1;
}

/** The status of the first call to a sandbox started with this Node. */
async function firstAnswer(node, bin) {
  const child = spawn(node, [bin, "start", "--memory", "--port", "0", "--json"], { cwd: work, stdio: ["ignore", "pipe", "inherit"] });
  try {
    const line = await new Promise((resolve, reject) => {
      createInterface({ input: child.stdout }).once("line", resolve);
      child.once("exit", (code) => reject(new Error(`ended with ${code} before it was ready`)));
    });
    const { baseUrl } = JSON.parse(line);
    const answer = await fetch(`${baseUrl}/payments`, { headers: { authorization: "Bearer sk_test_lodge" } });
    return answer.status;
  } finally {
    child.kill();
  }
}
