// Files that a test writes; each is removed, with its folder, after the test.

import { cpSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folder } from "./program.ts";

/** The path of a file of this name in a folder of its own. */
export function temporaryFile(content: string | Uint8Array, name: string): string {
  const path = join(folder(), name);
  writeFileSync(path, content);
  return path;
}

/** A copy of the database in this folder, as a process killed at this moment would leave it. */
export function databaseLeftBehind(from: string): string {
  const to = folder();
  for (const name of readdirSync(from).filter((entry) => !entry.endsWith("-lock"))) cpSync(join(from, name), join(to, name));
  return join(to, "sandbox.db");
}
