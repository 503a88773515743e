// The packages that the program needs at run time: better-sqlite3 and its dependencies.

import { readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { root } from "./page.ts";

interface Manifest {
  version: string;
  dependencies?: Record<string, string>;
}

const manifestIn = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

/**
 * The folder of a package, as Node resolves it from the folder `from`. A checkout on Node 20 has better-sqlite3 in
 * another folder than node_modules.
 */
const folderOf = (name: string, from: string) =>
  dirname(realpathSync(createRequire(join(from, "package.json")).resolve(`${name}/package.json`)));

/** Packages that are used only to download or compile the binary. */
const INSTALLERS = ["prebuild-install", "node-addon-api"];

export function nativePackages(): string[] {
  const addon = folderOf("better-sqlite3", root);
  const folders = [addon];
  for (const folder of folders)
    for (const name of Object.keys(manifestIn(folder).dependencies ?? {}))
      if (!INSTALLERS.includes(name)) folders.push(folderOf(name, folder));
  return folders;
}

/** The version of better-sqlite3 in this checkout. */
export const addonVersion = (): string => manifestIn(folderOf("better-sqlite3", root)).version;
