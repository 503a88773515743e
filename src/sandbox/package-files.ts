// The version of this package and the paths of its files.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { once } from "../kernel/once.ts";

/** A file or folder of the package, such as `fixtures/merchants`, whether it runs from the sources or as built. */
export const packageFile = (path: string): string => join(home(), path);

const home = once(() => {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
});

export const version = once(() => (JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as { version: string }).version);
