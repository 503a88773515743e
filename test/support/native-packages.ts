// The packages that the program needs at run time: better-sqlite3, and what its version for this Node depends on.

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
 * The folder of a package, as the package in `from` resolves it. The folder is resolved, not assumed, because a
 * checkout on Node 20 uses another version of better-sqlite3.
 */
const folderOf = (name: string, from: string) =>
  dirname(realpathSync(createRequire(join(from, "package.json")).resolve(`${name}/package.json`)));

/** Packages that only install the binary, or compile it. */
const INSTALLERS = ["prebuild-install", "node-addon-api"];

/** The folders of the packages. */
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
