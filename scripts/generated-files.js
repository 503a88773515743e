// Writes the generated files that have changed. With `--check`, writes nothing, and fails if a file is out of date.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * `files` are texts by path below `root`. `problem` makes the error message of `--check` from the paths that are out of
 * date.
 */
export function writeGenerated(root, files, problem) {
  const stale = staleFiles(root, files);
  const names = stale.join(", ");
  if (stale.length === 0) console.log("All generated files are up to date.");
  else if (process.argv.includes("--check")) {
    console.error(problem(names));
    process.exitCode = 1;
  } else {
    writeChanged(root, files);
    console.log(`Wrote ${names}.`);
  }
}

/** A file that has not changed keeps its modification time, so that no watcher starts again. */
export function writeChanged(root, files) {
  for (const name of staleFiles(root, files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), files[name]);
  }
}

const staleFiles = (root, files) => Object.keys(files).filter((name) => files[name] !== written(join(root, name)));

const written = (file) => (existsSync(file) ? readFileSync(file, "utf8").replaceAll("\r\n", "\n") : undefined);
