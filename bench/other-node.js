// The sandbox on another Node than this one, as it is installed there: with another build of SQLite.

import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { nodeOf, npmOf, pack, run } from "../scripts/packing.js";

const root = fileURLToPath(new URL("..", import.meta.url));

const major = Number.parseInt(process.versions.node, 10);

/** Whether something that takes no Node older than this one can be run by the Node that is here. */
export const isHere = (oldest) => major >= oldest;

/** Packs it and installs it in a folder that is not there yet; answers the Node, and the module to load with it. */
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
