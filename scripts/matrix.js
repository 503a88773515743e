// Tries the package on every Node that is supported: a cold `npx` of the tarball, with nothing but a registry to help it.
// Not part of the check: it needs the network, minutes, and a POSIX shell. `npm run matrix`, or `npm run matrix -- 24 26`.

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A Node and the npm it is tried with. npm 12 runs no install script; it needs Node 22. */
const ROWS = [
  { node: "20", npm: "10" },
  { node: "22", npm: "10" },
  { node: "22", npm: "12" },
  { node: "24", npm: "12" },
  { node: "26", npm: "12" },
];

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
/** Without what `npm run` adds: each row speaks for itself. */
const plain = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
const wanted = process.argv.slice(2);

const work = mkdtempSync(join(tmpdir(), "merchant-sandbox-matrix-"));
try {
  const [{ filename }] = parseFrom("[", run("npm", ["pack", "--json", "--pack-destination", work], { cwd: root }));
  console.log("node       npm       better-sqlite3  packages     MB  cold npx  first answer");
  for (const row of ROWS.filter(({ node }) => wanted.length === 0 || wanted.includes(node))) await tryRow(row, filename);
} finally {
  rmSync(work, { recursive: true, force: true });
}

async function tryRow(row, tarball) {
  const node = run("npx", ["--yes", "--package", `node@${row.node}`, "--", "node", "--print", "process.execPath"])
    .trim()
    .split("\n")
    .at(-1);
  const npm = npmScript(row.npm);
  const cache = mkdtempSync(join(work, "cache-"));
  const env = { ...plain, npm_config_loglevel: "error", PATH: `${dirname(node)}${delimiter}${process.env.PATH}`, npm_config_cache: cache };

  const began = performance.now();
  // As `npx ./merchant-sandbox-0.1.0.tgz`: the dot matters, for npx takes an absolute path for a program and tries to run it.
  const said = run(node, [npm, "exec", "--yes", "--", `./${tarball}`, "--version"], { cwd: work, env });
  const seconds = (performance.now() - began) / 1000;

  const modules = join(cache, "_npx", readdirSync(join(cache, "_npx"))[0], "node_modules");
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
    `${seconds.toFixed(1)} s`.padStart(8),
    `${answer} (${said.trim().split("\n").at(-1)})`,
  ];
  console.log(cells.join("  "));
  if (answer !== 200) process.exitCode = 1;
}

function run(command, words, options = {}) {
  return execFileSync(command, words, { encoding: "utf8", env: plain, stdio: ["ignore", "pipe", "inherit"], ...options });
}

/** The script of an npm of this version, brought by the npm that is here. */
function npmScript(version) {
  const link = run("npx", [
    "--yes",
    "--package",
    `npm@${version}`,
    "--call",
    "node --print \"process.env.PATH.split(require('path').delimiter)[0]\"",
  ]);
  return realpathSync(join(link.trim().split("\n").at(-1), "../npm/bin/npm-cli.js"));
}

function packagesIn(modules) {
  return readdirSync(modules, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
    .flatMap(({ name }) =>
      name.startsWith("@") ? packagesIn(join(modules, name)) : [JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8"))],
    );
}

function sizeOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/** The status of the first call to a sandbox that this Node has just started. */
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

/** JSON among other lines that npm and its scripts print before it. */
function parseFrom(opening, printed) {
  return JSON.parse(printed.slice(printed.indexOf(`${opening}\n`)));
}
