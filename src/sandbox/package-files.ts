// The version of this package and the paths of its files.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { usageError } from "../kernel/errors.ts";
import { once } from "../kernel/once.ts";

/** A file or folder of the package, such as `fixtures/merchants`, whether it runs from the sources or as built. */
export const packageFile = (path: string): string => join(home().folder, path);

export const version = (): string => home().version;

/** Throws if the files of the package are missing. */
export const requireFiles = (): void => void home();

const home = once(() => packageAbove(import.meta.dirname));

function packageAbove(folder: string): { folder: string; version: string } {
  const file = join(folder, "package.json");
  const { name, version } = existsSync(file)
    ? (JSON.parse(readFileSync(file, "utf8")) as { name: string; version: string })
    : {};
  if (name === "merchant-sandbox" && version !== undefined) return { folder, version };
  if (dirname(folder) !== folder) return packageAbove(dirname(folder));
  return usageError("merchant-sandbox was bundled without its files: let the bundler leave it external.");
}
