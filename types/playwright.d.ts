// Written from the sources by `npm run docs`: change those, not this.

import type { PlaywrightTestArgs, PlaywrightTestOptions, PlaywrightWorkerArgs, PlaywrightWorkerOptions, TestType } from "@playwright/test";
import { type TestFixtures } from "./index.cjs";
/**
 * `page` and `request` send the header `baggage` with the test's merchant. An app that passes the header on to the
 * sandbox then acts as this merchant, although its environment has only one key.
 */
export declare const test: TestType<PlaywrightTestArgs & PlaywrightTestOptions & Pick<TestFixtures, "merchant">, PlaywrightWorkerArgs & PlaywrightWorkerOptions & Pick<TestFixtures, "sandbox">>;
export declare const expect: typeof import("@playwright/test").expect;
