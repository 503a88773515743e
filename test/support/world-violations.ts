// Runs the checker of the whole world over every merchant of a sandbox, from its file or a snapshot.

import { askedOf } from "./books.ts";
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

async function snapshotOf(bench: Bench): Promise<[file: string, now: number]> {
  const { unix } = await bench.control("GET", "/clock");
  const { file } = await bench.control("PUT", "/snapshots/checked");
  return [file, unix];
}

/** Contradictions in the worlds of a running sandbox at the present of its clock. */
export const violations = async (bench: Bench): Promise<string[]> => violationsIn(...(await snapshotOf(bench)));

/** What a clerk would ask about in the books of a merchant of a running sandbox. */
export async function questions(bench: Bench, merchant: string): Promise<string[]> {
  const [file, now] = await snapshotOf(bench);
  const worlds = openWorldFile(file);
  const found = askedOf(worlds.records(merchant), now);
  worlds.close();
  return found;
}
