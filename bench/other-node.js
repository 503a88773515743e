// Installs the packed sandbox on another Node version, with the build of SQLite for that version.

import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { nodeOf, npmOf, pack, run } from "../scripts/packing.js";

const root = fileURLToPath(new URL("..", import.meta.url));

const major = Number.parseInt(process.versions.node, 10);

/** Whether this Node is at least as new as the given version. */
export const isHere = (oldest) => major >= oldest;

/** Packs the package, installs it in a new folder, and returns the Node of this version and the module to load. */
export function installOn(version, cwd) {
  mkdirSync(cwd);
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ private: true }));
  const tarball = pack(root, cwd, ["--ignore-scripts"]);
  const node = nodeOf(version);
  const env = { PATH: `${dirname(node)}${delimiter}${process.env.PATH}`, npm_config_loglevel: "error" };
  const words = [npmOf(12), "install", "--no-audit", "--no-fund", `./${tarball}`];
  run(node, words, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  return { execPath: node, module: join(cwd, "node_modules/merchant-sandbox/dist/index.cjs") };
}
