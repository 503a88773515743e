// A sandbox under a service file that a test writes.

import type { GivenOptions } from "../../src/sandbox/options.ts";
import { type Bench, open } from "./sandbox.ts";
import { temporaryFile } from "./temporary-file.ts";

/** The path of a file with these facts; other text is written as it is. */
export const serviceFile = (facts: object | string): string =>
  temporaryFile(typeof facts === "string" ? facts : JSON.stringify({ facts }, null, 2), "service.json");

/** A sandbox that responds by these facts. */
export const openAs = (facts: object, options: GivenOptions = {}): Promise<Bench> => open({ service: serviceFile(facts), ...options });
