// A sandbox under a service file that a test writes.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GivenOptions } from "../../src/sandbox/options.ts";
import { afterEachTest } from "./cleanup.ts";
import { type Bench, open } from "./sandbox.ts";

const folders: string[] = [];
afterEachTest.push(async () => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** The path of a file with these facts; other text is written as it is. */
export function serviceFile(facts: object | string): string {
  const folder = mkdtempSync(join(tmpdir(), "service-"));
  folders.push(folder);
  const file = join(folder, "service.json");
  writeFileSync(file, typeof facts === "string" ? facts : JSON.stringify({ facts }, null, 2));
  return file;
}

/** A sandbox that responds by these facts. */
export const openAs = (facts: object, options: GivenOptions = {}): Promise<Bench> => open({ service: serviceFile(facts), ...options });
