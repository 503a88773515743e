// Files that a test writes; each is removed, with its folder, after the test.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEachTest } from "./cleanup.ts";

const folders: string[] = [];
afterEachTest.push(async () => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** The path of a file of this name in a folder of its own. */
export function temporaryFile(content: string | Uint8Array, name: string): string {
  const folder = mkdtempSync(join(tmpdir(), "merchant-sandbox-"));
  folders.push(folder);
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}
