// Loads the program. Trick: reuses the code that V8 compiled from it in an earlier run. Reason: V8 would compile a
// megabyte at each start. Figure: without the trick, a start takes 1.3 times the CPU time on Node 20, and 1.2 times on
// Node 22 and 24.
//
// V8 executes such code unchecked, so it is kept where only this user can write: in the state folder of
// src/store/user-state.ts. Node's own compile cache would leave out most of the program: the functions that V8 compiles
// at their first call. It is used only for the bundled packages, which `require` loads.

const { hash } = require("node:crypto");
const { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } = require("node:fs");
const { createRequire, enableCompileCache } = require("node:module");
const { homedir } = require("node:os");
const { isAbsolute, join } = require("node:path");
const { cachedDataVersionTag } = require("node:v8");
const { Script } = require("node:vm");

const PROGRAM = join(__dirname, "program.cjs");
/** The most files that are kept. There is one for each name, version of Node, path and build, of up to 1.4 MB. */
const MOST_KEPT = 12;

/** Loads the program. `name` is the kind of run, because each kind compiles other functions. */
module.exports = function loadProgram(name) {
  const source = readFileSync(PROGRAM, "latin1");
  const folder = attempt(openFolder);
  if (folder !== undefined && enableCompileCache) enableCompileCache(folder);
  const file = folder && join(folder, nameOf(name, source));
  const script = new Script(`(function (exports, require, module, __filename, __dirname) {${source}\n})`, {
    filename: PROGRAM,
    cachedData: file && attempt(() => readFileSync(file)),
  });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(PROGRAM), module, PROGRAM, __dirname);
  if (file !== undefined && script.cachedDataRejected !== false)
    process.once("exit", () => attempt(() => write(folder, file, script.createCachedData())));
  return module.exports;
};

/**
 * The folder `cache` in this user's state folder; undefined if NODE_DISABLE_COMPILE_CACHE is set. Throws if another
 * user can read or write there.
 */
function openFolder() {
  const { NODE_DISABLE_COMPILE_CACHE, XDG_STATE_HOME, LOCALAPPDATA } = process.env;
  if (NODE_DISABLE_COMPILE_CACHE !== undefined) return undefined;
  const isWindows = process.platform === "win32";
  const given = isWindows ? LOCALAPPDATA : XDG_STATE_HOME;
  const usual = join(homedir(), ...(isWindows ? ["AppData", "Local"] : [".local", "state"]));
  const state = join(given !== undefined && isAbsolute(given) ? given : usual, "merchant-sandbox");
  const folder = join(state, "cache");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const path of isWindows ? [] : [state, folder]) {
    const found = lstatSync(path);
    if (!found.isDirectory() || found.uid !== process.getuid() || (found.mode & 0o077) !== 0)
      throw new Error(`${path} must be a folder that only this user can read and write`);
  }
  return folder;
}

/**
 * The name of the file for a kind of run. It depends on the first line of the program, into which the build wrote a
 * hash; on the time of the file, in case the program was edited since; and on its path, which compiled code contains
 * for stack traces and coverage.
 */
function nameOf(name, source) {
  const [build] = source.split("\n", 1);
  const about = [PROGRAM, build, lstatSync(PROGRAM).mtimeMs].join("\n");
  return `${name}-${cachedDataVersionTag().toString(16)}-${hash("sha256", about, "hex").slice(0, 32)}`;
}

/** Writes the file in one step, because another process may read it, and removes the oldest files. */
function write(folder, file, code) {
  const unfinished = `${file}-${process.pid}`;
  writeFileSync(unfinished, code, { mode: 0o600, flag: "wx" });
  renameSync(unfinished, file);
  const kept = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(folder, entry.name))
    .map((path) => ({ path, written: lstatSync(path).mtimeMs }))
    .sort((one, other) => other.written - one.written);
  for (const { path } of kept.slice(MOST_KEPT)) rmSync(path, { force: true });
}

function attempt(work) {
  try {
    return work();
  } catch {
    return undefined;
  }
}
