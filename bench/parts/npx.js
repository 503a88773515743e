// The first run of a new user: `npx` with the packed package in an empty folder, with an empty and with a warm cache,
// compared with a package of one file.

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { emptyCache, modulesIn, nodeOf, npmOf, npx as npxOf, pack, packagesIn, sizeOf } from "../../scripts/packing.js";
import { openFolder } from "../folder.js";
import { figure, inTurn, median, RUNS, ratio } from "../measure.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

const ONE_FILE = { name: "one-file", version: "1.0.0", bin: "bin.js", files: ["bin.js"] };

/**
 * The versions of Node and npm. npm 12 runs no install scripts, and installs the better-sqlite3 that comes with
 * binaries.
 */
const installers = [
  { by: "this Node and npm", command: () => ({ command: ["npm"] }) },
  {
    by: "Node 24, npm 12",
    command() {
      const node = nodeOf(24);
      return { command: [node, npmOf(12)], env: { PATH: `${dirname(node)}${delimiter}${process.env.PATH}` } };
    },
  },
];

const COLD = "npx --version, empty cache";
const WARM = "npx --version, warm cache";

const installed = (by, what, target, read) => ({
  what: `${what}, ${by}`,
  against: "",
  target,
  read: (measured) => ({ figure: read(measured.get(by)) }),
});

const rowsFor = (by) => [
  {
    what: `${COLD}, ${by}`,
    against: `one file, empty cache, ${by}`,
    read(measured) {
      const { first, cold, compiled } = measured.get(by);
      return { figure: `${figure(first / cold)}${compiled ? " (better-sqlite3 was compiled)" : ""}` };
    },
  },
  {
    what: `${WARM}, ${by}`,
    against: `one file, warm cache, ${by}`,
    read: (measured) => ({ figure: figure(ratio(measured.get(by).warm, "ours", "one file", "time")) }),
  },
  installed(by, "packages installed", "<= 6", ({ packages }) => String(packages)),
  installed(by, "megabytes installed, without better-sqlite3", "<= 10", ({ own }) => figure(own)),
  installed(by, "megabytes installed, all", undefined, ({ all }) => figure(all)),
];

export const npx = {
  name: "npx",
  rows: installers.flatMap(({ by }) => rowsFor(by)),
  async measure() {
    const folder = openFolder();
    const work = folder.path;
    try {
      const ours = packed(root, join(work, "ours"), ["--ignore-scripts"]);
      const oneFile = packed(sourceOfOneFile(join(work, "source")), join(work, "one-file"));
      const measured = new Map();
      for (const { by, command } of installers) measured.set(by, await measureBy(command(), { work, ours, oneFile }));
      return measured;
    } finally {
      folder.remove();
    }
  },
};

async function measureBy(installer, { work, ours, oneFile }) {
  const run = ({ where, cache }) => npxOf({ ...where, ...installer, word: "--version", cache });
  const cases = [
    { name: "ours", where: ours, cache: emptyCache(work) },
    { name: "one file", where: oneFile, cache: emptyCache(work) },
  ];
  // A cache is empty only for its first install. So the one file is installed three times more, each time with a new
  // cache, and the sandbox, which takes longer, once. Without a binary for this Node, an install compiles
  // better-sqlite3.
  const [{ time: first }] = cases.map(run);
  const cold = median([1, 2, 3].map(() => run({ where: oneFile, cache: emptyCache(work) }).time));
  const warm = await inTurn(cases, run, Math.min(RUNS, 7));
  return { first, cold, warm, ...installedIn(modulesIn(cases[0].cache)) };
}

/** Packs the package in `folder`, and writes the tarball to `cwd`. */
function packed(folder, cwd, words) {
  mkdirSync(cwd);
  return { cwd, tarball: pack(folder, cwd, words) };
}

function sourceOfOneFile(folder) {
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify(ONE_FILE));
  writeFileSync(join(folder, ONE_FILE.bin), '#!/usr/bin/env node\nconsole.log("1.0.0");\n');
  return folder;
}

const MEGABYTE = 1_048_576;

function installedIn(modules) {
  const all = sizeOf(modules) / MEGABYTE;
  const sqlite = join(modules, "better-sqlite3");
  const compiled = existsSync(join(sqlite, "build/Release/obj"));
  return { compiled, packages: packagesIn(modules).length, all, own: all - sizeOf(sqlite) / MEGABYTE };
}
