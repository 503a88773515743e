// Runs the checker of the whole world over every merchant of a sandbox, from its file or a snapshot.

import type { Bench } from "./sandbox.ts";
import { contradictionsIn, openWorldFile } from "./world-file.ts";

/** Contradictions in the worlds of all merchants in a file. `now` is in Unix seconds. */
export function violationsIn(file: string, now: number): string[] {
  const worlds = openWorldFile(file);
  const problemsOf = (merchant: string) => contradictionsIn(worlds.records(merchant), now).map((problem) => `${merchant} ${problem}`);
  const found = worlds.merchants().flatMap(problemsOf);
  worlds.close();
  return found;
}

/** Contradictions in the worlds of a running sandbox at the present of its clock. */
export async function violations(bench: Bench): Promise<string[]> {
  const { unix } = await bench.control("GET", "/clock");
  const { file } = await bench.control("PUT", "/snapshots/checked");
  return violationsIn(file, unix);
}
