// A temporary folder for one measurement, removed at the latest when the process exits.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function openFolder() {
  const path = mkdtempSync(join(tmpdir(), "merchant-sandbox-bench-"));
  const remove = () => {
    process.off("exit", remove);
    rmSync(path, { recursive: true, force: true });
  };
  process.on("exit", remove);
  return { path, file: (name) => join(path, name), remove };
}
