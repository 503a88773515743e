// The installers of the matrix: how each installs the packed package and runs its program, and the expected exit codes.

import { npmOf, programOf, run } from "../packing.js";

export const registry = run("npm", ["config", "get", "registry"]).trim();

/** The exit code of the program if this Node cannot load the installed better-sqlite3. */
const REFUSED = 7;
/**
 * better-sqlite3 13 needs Node 22.14, but its `engines` allow every Node 22. Only npm chooses a version by `engines`.
 */
const newest = { "20.19.0": REFUSED, "22.12.0": REFUSED };

const pnpm = {
  add: (tarball) => ["add", tarball],
  run: ["exec", "merchant-sandbox"],
  environment: (cache) => ({ XDG_CACHE_HOME: cache, XDG_DATA_HOME: cache }),
  fails: newest,
  recipe: "pnpm",
};

const bun = {
  program: () => programOf("bun@1", "bun"),
  add: (tarball) => ["add", tarball],
  environment: (cache) => ({ BUN_INSTALL_CACHE_DIR: cache }),
};

/**
 * `environment` sets an empty cache, and the registry that serves the packed package. `fails` has the exit codes other
 * than 0, by Node version. `recipe` names the row for Node 20 of the table in docs/troubleshooting.md. `files` are
 * written into the project. Without a lock file, Yarn would look for the project in the folders above.
 */
export const installers = {
  npm: {
    program: ({ npm }) => npmOf(npm),
    add: (tarball) => ["install", "--no-audit", "--no-fund", tarball],
    run: ["exec", "--", "merchant-sandbox"],
    environment: (cache) => ({ npm_config_cache: cache }),
    fails: { "22.12.0": REFUSED },
  },
  "pnpm@10": { ...pnpm, program: () => programOf("pnpm@10", "pnpm") },
  "pnpm@12": { ...pnpm, program: () => programOf("pnpm@12", "pnpm") },
  "yarn@1": {
    program: () => programOf("yarn@1", "yarn"),
    files: { "yarn.lock": "" },
    add: (tarball) => ["add", `file:${tarball}`],
    // Yarn 1 removes the first `--`. Without this additional `--`, Yarn would remove the `--` of `exec`.
    run: ["--silent", "merchant-sandbox", "--"],
    environment: (cache) => ({ YARN_CACHE_FOLDER: cache, YARN_REGISTRY: registry }),
    // Yarn 1 checks the engines of all packages before it installs any.
    fails: { "20.19.0": 1, "22.12.0": 1 },
    recipe: "Yarn",
  },
  "yarn@4": {
    program: () => programOf("@yarnpkg/cli-dist@4", "yarn"),
    files: { "yarn.lock": "" },
    add: (tarball) => ["add", `merchant-sandbox@file:${tarball}`],
    run: ["run", "merchant-sandbox"],
    environment: (cache) => ({
      YARN_ENABLE_GLOBAL_CACHE: "0",
      YARN_CACHE_FOLDER: cache,
      YARN_NPM_REGISTRY_SERVER: registry,
    }),
    fails: newest,
    recipe: "Yarn",
  },
  bun: { ...bun, run: ["x", "merchant-sandbox"], fails: newest, recipe: "Bun" },
  // Here, Bun and Deno run the program themselves. `node` in PATH is a version that could not run it.
  "bun --bun": { ...bun, beside: "20.19.0", run: ["x", "--bun", "merchant-sandbox"] },
  deno: {
    program: () => programOf("deno@2", "deno"),
    beside: "20.19.0",
    add: () => ["add", "npm:merchant-sandbox"],
    run: ["run", "--allow-all", "npm:merchant-sandbox"],
    environment: (cache, own) => ({ DENO_DIR: cache, NPM_CONFIG_REGISTRY: own }),
  },
};
