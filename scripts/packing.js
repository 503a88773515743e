// Packs the package, runs it with `npx` in an empty folder, and measures the installation.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";

/** The environment without the variables of `npm run`, which would change the behaviour of nested commands. */
export const plain = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));

export function run(command, words, options = {}) {
  return execFileSync(command, words, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    ...options,
    env: { ...plain, ...options.env },
  });
}

/** Packs the package in `folder`, and writes the tarball to `destination`. Returns the name of the tarball. */
export function pack(folder, destination, words = []) {
  const printed = run("npm", ["pack", "--pack-destination", destination, ...words], { cwd: folder });
  return printed.trim().split("\n").at(-1);
}

/** Hides npm's warning that a package does not support this Node, because the package runs on another Node. */
const QUIET = { env: { npm_config_loglevel: "error" } };

/** The path of a Node of this version, installed from npm. */
export function nodeOf(version) {
  const said = run(
    "npx",
    ["--yes", "--package", `node@${version}`, "--", "node", "--print", "process.execPath"],
    QUIET,
  );
  return said.trim().split("\n").at(-1);
}

/** The path of a program of a package, such as `yarn` of `yarn@1`, installed from npm. */
export function programOf(spec, name) {
  const words = [
    "--yes",
    "--package",
    spec,
    "--call",
    "node --print \"process.env.PATH.split(require('path').delimiter)[0]\"",
  ];
  return realpathSync(join(run("npx", words, QUIET).trim().split("\n").at(-1), name));
}

/** The path of an npm of this version, installed from npm. */
export const npmOf = (version) => programOf(`npm@${version}`, "npm");

/** An empty npm cache. */
export const emptyCache = (folder) => mkdtempSync(join(folder, "cache-"));

/**
 * Runs the packed program with an argument, as `npx ./merchant-sandbox-0.1.0.tgz ARGUMENT`. The path must be relative,
 * because npx would execute an absolute path. Returns the output and the duration in milliseconds.
 */
export function npx({ tarball, word, cwd, cache, command = ["npm"], env = {} }) {
  const [program, ...before] = command;
  const began = performance.now();
  const said = run(program, [...before, "exec", "--yes", "--", `./${tarball}`, word], {
    cwd,
    env: { npm_config_loglevel: "error", npm_config_cache: cache, ...env },
  });
  return { said: said.trim().split("\n").at(-1), time: performance.now() - began };
}

/** The folder where npx installed the package. */
export const modulesIn = (cache) => join(cache, "_npx", readdirSync(join(cache, "_npx"))[0], "node_modules");

export function packagesIn(modules) {
  return readdirSync(modules, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
    .flatMap(({ name }) =>
      name.startsWith("@")
        ? packagesIn(join(modules, name))
        : [JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8"))],
    );
}

export function sizeOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
