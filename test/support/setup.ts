// Runs before each test file: fixes the seed of the property tests, and registers the clean-up hooks of the support modules that the file uses.

import fc from "fast-check";
import { afterAll, afterEach } from "vitest";
import { afterEachFile, afterEachTest } from "./cleanup.ts";

afterEach(() => Promise.all(afterEachTest.map((hook) => hook())));
afterEach(({ task }) => {
  if (task.result?.retryCount) console.warn(`Failed, and was run again: ${task.fullTestName}`);
});
afterAll(() => Promise.all(afterEachFile.map((hook) => hook())));

/** Each run tries the same inputs, so that a failure is caused by the change. `PROPERTY_SEED=random` tries others. */
const { PROPERTY_SEED = "20260105" } = process.env;
if (PROPERTY_SEED !== "random") fc.configureGlobal({ seed: Number(PROPERTY_SEED) });
