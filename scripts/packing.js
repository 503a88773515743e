// The package as a stranger gets it: packed, run by `npx` in an empty folder, and counted.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";

/** Without what `npm run` adds: each command speaks for itself. */
const plain = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));

export function run(command, words, options = {}) {
  return execFileSync(command, words, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    ...options,
    env: { ...plain, ...options.env },
  });
}

/** Packs the package in a folder into another, and answers the name of the tarball. */
export function pack(folder, destination, words = []) {
  const [{ filename }] = parseFrom("[", run("npm", ["pack", "--json", "--pack-destination", destination, ...words], { cwd: folder }));
  return filename;
}

/** JSON among other lines that npm and its scripts print before it. */
function parseFrom(opening, printed) {
  return JSON.parse(printed.slice(printed.indexOf(`${opening}\n`)));
}

/** A Node of this version, brought by npm. */
export function nodeOf(version) {
  const said = run("npx", ["--yes", "--package", `node@${version}`, "--", "node", "--print", "process.execPath"]);
  return said.trim().split("\n").at(-1);
}

/** The script of an npm of this version, brought by the npm that is here. */
export function npmOf(version) {
  const words = ["--yes", "--package", `npm@${version}`, "--call", "node --print \"process.env.PATH.split(require('path').delimiter)[0]\""];
  return npmBeside(run("npx", words).trim().split("\n").at(-1));
}

const npmBeside = (folder) => realpathSync(join(folder, "../npm/bin/npm-cli.js"));

/** An npm's cache with nothing in it. */
export const emptyCache = (folder) => mkdtempSync(join(folder, "cache-"));

/**
 * Runs the packed program with a word, as `npx ./merchant-sandbox-0.1.0.tgz WORD`: the dot matters, for npx takes an absolute
 * path for a program and tries to run it. Answers what it said and how many milliseconds that took.
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

/** Where npx laid out what it ran from this cache. */
export const modulesIn = (cache) => join(cache, "_npx", readdirSync(join(cache, "_npx"))[0], "node_modules");

export function packagesIn(modules) {
  return readdirSync(modules, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
    .flatMap(({ name }) =>
      name.startsWith("@") ? packagesIn(join(modules, name)) : [JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8"))],
    );
}

export function sizeOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
