// Runs before each test file. Fixes the seed of the property tests, keeps deliveries away from the developer's own app,
// and registers the clean-up hooks of the support modules that the file uses.

import { Socket } from "node:net";
import fc from "fast-check";
import { afterAll, afterEach, beforeEach } from "vitest";
import { afterEachFile, afterEachTest } from "./cleanup.ts";

/** How many tests are running. The hooks for concurrent tests run after the last of these tests ends. */
let running = 0;

beforeEach(() => void running++);
afterEach(async () => {
  running--;
  if (running === 0) await Promise.all(afterEachTest.map((hook) => hook()));
});
afterAll(() => Promise.all(afterEachFile.map((hook) => hook())));

/**
 * `npm test` uses a fixed seed, so that it tries the same inputs each time and only a change to the code can make it
 * fail. Long runs use random seeds, and a failure prints the seed.
 */
const { FUZZ_RUNS, PROPERTY_SEED = FUZZ_RUNS === undefined ? "20260105" : "random" } = process.env;
if (PROPERTY_SEED !== "random") fc.configureGlobal({ seed: Number(PROPERTY_SEED) });

/** The port to which the examples of the operations send webhooks. An app of the developer may listen there. */
const EXAMPLE_PORT = 3000;
/** A privileged port at which no common service listens. */
const CLOSED_PORT = 1;

const { connect } = Socket.prototype;
Socket.prototype.connect = function (this: Socket, ...given: unknown[]) {
  for (const options of given.flat() as ({ port?: unknown } | undefined)[])
    if (Number(options?.port) === EXAMPLE_PORT) Object.assign(options as object, { port: CLOSED_PORT });
  return (connect as (...input: unknown[]) => Socket).apply(this, given);
} as typeof connect;
