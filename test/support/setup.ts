// Runs before each test file: fixes the seed of the property tests, and registers the clean-up hooks of the support
// modules that the file uses.

import fc from "fast-check";
import { afterAll, afterEach, beforeEach } from "vitest";
import { afterEachFile, afterEachTest } from "./cleanup.ts";

/** How many tests run. Concurrent ones are cleaned up after the last of them. */
let running = 0;

beforeEach(() => void running++);
afterEach(async () => {
  running--;
  if (running === 0) await Promise.all(afterEachTest.map((hook) => hook()));
});
afterAll(() => Promise.all(afterEachFile.map((hook) => hook())));

/**
 * `npm test` tries the same inputs each time, so that a failure is caused by the change. Long runs try others; a
 * failure prints their seed.
 */
const { FUZZ_RUNS, PROPERTY_SEED = FUZZ_RUNS === undefined ? "20260105" : "random" } = process.env;
if (PROPERTY_SEED !== "random") fc.configureGlobal({ seed: Number(PROPERTY_SEED) });
