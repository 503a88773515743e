// Installs the packed package into empty folders with each installer on each Node, starts it, and compares the exit codes with the expected ones.
// Not part of the check: it needs a registry, minutes, and a POSIX shell. `npm run matrix`, or `npm run matrix -- 22.12.0 pnpm`.

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { nodeOf, npmOf, pack, plain, programOf, run } from "./packing.js";

const STARTS = 0;
const REFUSES = 7;

/** Both ends of the supported Nodes and one between them that is not, each with the major version of the npm that it brings. */
const NODES = [
  { node: "20.19.0", npm: "10" },
  { node: "22.12.0", npm: "10" },
  { node: "22.14.0", npm: "10" },
  { node: "24", npm: "12" },
  { node: "26", npm: "12" },
];

/** npm selects a better-sqlite3 whose engines name this Node; the others take the newest, which refuses a Node without Node-API 10. */
const npmRefuses = ({ node }) => node === "22.12.0";
const othersRefuse = ({ node }) => node === "20.19.0" || node === "22.12.0";

/** How each installer adds a tarball with an empty cache, and runs the program that it installed. */
const INSTALLERS = {
  npm: {
    program: ({ npm }) => npmOf(npm),
    add: (tarball) => ["install", "--no-audit", "--no-fund", tarball],
    run: ["exec", "--", "merchant-sandbox"],
    environment: (cache) => ({ npm_config_cache: cache }),
    refuses: npmRefuses,
  },
  pnpm: {
    program: () => programOf("pnpm@10", "pnpm"),
    add: (tarball) => ["add", tarball],
    run: ["exec", "merchant-sandbox"],
    environment: (cache) => ({ npm_config_store_dir: cache, npm_config_cache_dir: cache }),
    refuses: othersRefuse,
  },
  yarn: {
    program: () => programOf("@yarnpkg/cli-dist@4", "yarn"),
    add: (tarball) => ["add", `merchant-sandbox@file:${tarball}`],
    run: ["run", "merchant-sandbox"],
    environment: (cache) => ({
      YARN_ENABLE_GLOBAL_CACHE: "0",
      YARN_CACHE_FOLDER: cache,
      YARN_NPM_REGISTRY_SERVER: run("npm", ["config", "get", "registry"]).trim(),
    }),
    refuses: othersRefuse,
  },
  bun: {
    program: () => programOf("bun@1", "bun"),
    isNative: true,
    add: (tarball) => ["add", tarball],
    run: ["x", "merchant-sandbox"],
    environment: (cache) => ({ BUN_INSTALL_CACHE_DIR: cache }),
    refuses: othersRefuse,
  },
};

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const wanted = process.argv.slice(2);
const selected = (names) => (names.some((name) => wanted.includes(name)) ? names.filter((name) => wanted.includes(name)) : names);
const nodes = selected(NODES.map(({ node }) => node));

const work = mkdtempSync(join(tmpdir(), "merchant-sandbox-matrix-"));
try {
  const tarball = join(work, pack(root, work));
  console.log("| Node | Installer | better-sqlite3 | Exit code | First response, or the refusal |\n|---|---|---|---|---|");
  for (const row of NODES.filter(({ node }) => nodes.includes(node)))
    for (const name of selected(Object.keys(INSTALLERS))) await tryInstaller(name, row, tarball);
} finally {
  rmSync(work, { recursive: true, force: true });
}

async function tryInstaller(name, row, tarball) {
  const installer = INSTALLERS[name];
  const node = nodeOf(row.node);
  const [command, ...before] = installer.isNative ? [installer.program(row)] : [node, installer.program(row)];
  const cwd = join(work, `${name}-${row.node}`);
  const env = { ...plain, ...installer.environment(join(cwd, "cache")), PATH: `${dirname(node)}${delimiter}${plain.PATH}` };
  mkdirSync(cwd);
  writeFileSync(join(cwd, "package.json"), '{ "name": "project", "private": true }\n');
  // Yarn looks for the project in the folders above, unless this one has a lock file.
  if (name === "yarn") writeFileSync(join(cwd, "yarn.lock"), "");

  const version = run(command, [...before, "--version"], { cwd, env }).trim();
  const added = spawnSync(command, [...before, ...installer.add(tarball)], { cwd, env, encoding: "utf8" });
  const started = added.status === 0 ? await startOnce(command, [...before, ...installer.run], { cwd, env }) : undefined;
  const { code, says } = started ?? { code: added.status, says: `installation failed: ${sentenceIn(added.stderr + added.stdout)}` };
  const expected = installer.refuses(row) ? REFUSES : STARTS;
  const exit = code === expected ? code : `${code}, expected ${expected}`;
  console.log(`| ${run(node, ["--version"]).trim()} | ${name} ${version} | ${sqliteIn(cwd)} | ${exit} | ${says} |`);
  if (code !== expected || (code === STARTS && says !== "200")) process.exitCode = 1;
  rmSync(cwd, { recursive: true, force: true });
}

/** Starts a sandbox, calls it once and stops it. Resolves with the exit code, and the status of the response or the error. */
async function startOnce(command, words, options) {
  const child = spawn(command, [...words, "start", "--memory", "--port", "0", "--json"], { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let error = "";
  child.stderr.on("data", (text) => {
    error += text;
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  const ready = await Promise.race([new Promise((resolve) => createInterface({ input: child.stdout }).once("line", resolve)), ended]);
  if (typeof ready !== "string") return { code: ready, says: sentenceIn(error) };
  const { baseUrl, pid } = JSON.parse(ready);
  const { status } = await fetch(`${baseUrl}/payments`, { headers: { authorization: "Bearer sk_test_lodge" } });
  process.kill(pid, "SIGTERM");
  return { code: await ended, says: String(status) };
}

/** The error of the program, or of its installer, among other lines. */
function sentenceIn(text) {
  return /^merchant-sandbox: .*$/m.exec(text)?.[0] ?? /^.*\berror\b.*$/im.exec(text)?.[0] ?? text.trim().split("\n").at(-1);
}

/** The version of better-sqlite3 in the lock file of any installer. */
function sqliteIn(folder) {
  const lock = readdirSync(folder).find((file) => /lock/.test(file) && file !== "node_modules");
  const text = lock === undefined ? "" : readFileSync(join(folder, lock), "utf8");
  return /better-sqlite3(?:@|@npm:[^\n]*\n\s*version: |":\s*\{\s*"version": ")(\d[\d.]*)/.exec(text)?.[1] ?? "none";
}
