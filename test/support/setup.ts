// Runs before each test file: registers the clean-up hooks of the support modules that the file uses.

import { afterAll, afterEach } from "vitest";
import { afterEachFile, afterEachTest } from "./cleanup.ts";

afterEach(() => Promise.all(afterEachTest.map((hook) => hook())));
afterAll(() => Promise.all(afterEachFile.map((hook) => hook())));
