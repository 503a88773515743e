// Files that a test writes; each is removed, with its folder, after the test.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { folder } from "./program.ts";

/** The path of a file of this name in a folder of its own. */
export function temporaryFile(content: string | Uint8Array, name: string): string {
  const path = join(folder(), name);
  writeFileSync(path, content);
  return path;
}
