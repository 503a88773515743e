// What a stranger waits for: `npx` of the packed tarball in an empty folder, with an empty cache and with one that knows it,
// against a package of one file that is packed and run the same way.

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { emptyCache, modulesIn, npx as npxOf, pack, packagesIn, sizeOf } from "../../scripts/packing.js";
import { figure, inTurn, median, RUNS, ratio } from "../measure.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

const TRIVIAL = { name: "one-file", version: "1.0.0", bin: "bin.js", files: ["bin.js"] };

const COLD = "npx --version, empty cache";
const UNPACKED = "npx --version, empty cache, no install script run";
const WARM = "npx --version, warm cache";
const ONE_FILE_COLD = "npx of one file, empty cache";
const ONE_FILE_WARM = "npx of one file, warm cache";

const timeOf = (what, against) => ({ what, against, read: ({ results }) => ({ figure: figure(ratio(results, what, against, "time")) }) });

export const npx = {
  name: "npx",
  rows: [
    {
      what: COLD,
      against: ONE_FILE_COLD,
      read: ({ results, first, installed }) => ({
        figure: `${figure(first / median(results.get(ONE_FILE_COLD).map(({ time }) => time)))}${installed.compiled ? " (better-sqlite3 was compiled)" : ""}`,
      }),
    },
    timeOf(UNPACKED, ONE_FILE_COLD),
    timeOf(WARM, ONE_FILE_WARM),
    { what: "packages installed", against: "", target: "<= 6", read: ({ installed }) => ({ figure: String(installed.packages) }) },
    {
      what: "megabytes installed, without better-sqlite3",
      against: "",
      target: "<= 10",
      read: ({ installed }) => ({ figure: figure(installed.own) }),
    },
    { what: "megabytes installed, all", against: "", read: ({ installed }) => ({ figure: figure(installed.all) }) },
  ],
  async measure() {
    const work = mkdtempSync(join(tmpdir(), "merchant-sandbox-bench-"));
    try {
      return await measureIn(work);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  },
};

async function measureIn(work) {
  const ours = packed(root, join(work, "ours"), ["--ignore-scripts"]);
  const trivial = packed(trivialIn(join(work, "source")), join(work, "trivial"));
  const empty = () => emptyCache(work);
  const [warm, trivialWarm] = [empty(), empty()];
  // Once only: where no binary of better-sqlite3 can be fetched, it is compiled, and that takes a minute.
  const { time: first } = runOnce({ where: ours, cache: () => warm });
  const cold = [
    { name: UNPACKED, where: ours, cache: empty, env: { npm_config_ignore_scripts: "true" } },
    { name: ONE_FILE_COLD, where: trivial, cache: empty },
  ];
  const known = [
    { name: WARM, where: ours, cache: () => warm },
    { name: ONE_FILE_WARM, where: trivial, cache: () => trivialWarm },
  ];
  const results = [await inTurn(cold, runOnce, 3), await inTurn(known, runOnce, Math.min(RUNS, 7))];
  return { first, results: new Map(results.flatMap((some) => [...some])), installed: installedIn(modulesIn(warm)) };
}

const runOnce = ({ where, cache, env }) => npxOf({ ...where, word: "--version", cache: cache(), env });

/** Packs the package of a folder into an empty one. */
function packed(folder, cwd, words) {
  mkdirSync(cwd);
  return { cwd, tarball: pack(folder, cwd, words) };
}

function trivialIn(folder) {
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify(TRIVIAL));
  writeFileSync(join(folder, TRIVIAL.bin), '#!/usr/bin/env node\nconsole.log("1.0.0");\n');
  return folder;
}

const MEGABYTE = 1_048_576;

function installedIn(modules) {
  const all = sizeOf(modules) / MEGABYTE;
  const compiled = existsSync(join(modules, "better-sqlite3/build/Release/obj"));
  return { compiled, packages: packagesIn(modules).length, all, own: all - sizeOf(join(modules, "better-sqlite3")) / MEGABYTE };
}
