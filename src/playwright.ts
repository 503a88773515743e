// Fixtures for Playwright: a shared sandbox, and a merchant per test, which the browser names in its `baggage` header.

import { createRequire } from "node:module";
import { join } from "node:path";
import type {
  PlaywrightTestArgs,
  PlaywrightTestOptions,
  PlaywrightWorkerArgs,
  PlaywrightWorkerOptions,
  TestInfo,
  TestType,
} from "@playwright/test";
import {
  createTestMerchant,
  type OwnMerchant,
  openSharedSandbox,
  SandboxError,
  type SharedSandbox,
  type TestFixtures,
} from "./index.ts";

const playwright = loadPlaywright();

/**
 * `page` and `request` send the header `baggage` with the test's merchant. An app that passes the header on to the
 * sandbox then acts as this merchant, although its environment has only one key.
 */
export const test: TestType<
  PlaywrightTestArgs & PlaywrightTestOptions & Pick<TestFixtures, "merchant">,
  PlaywrightWorkerArgs & PlaywrightWorkerOptions & Pick<TestFixtures, "sandbox">
> = playwright.test.extend<Pick<TestFixtures, "merchant">, { sandbox: SharedSandbox }>({
  sandbox: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the dependencies of a fixture from the pattern.
    async ({}, use) => {
      const sandbox = await openSharedSandbox();
      await use(sandbox);
      await sandbox.close();
    },
    { scope: "worker" },
  ],
  merchant: async ({ sandbox }, use, info) => {
    const merchant = await createTestMerchant(sandbox, nameOf(info));
    await use(merchant);
    const isFailed = info.status !== info.expectedStatus;
    const reason = isFailed ? await whyNothingHappened(merchant) : undefined;
    await merchant.remove();
    if (reason !== undefined) throw new SandboxError(reason);
  },
  extraHTTPHeaders: async ({ extraHTTPHeaders, merchant }, use) => {
    const own = extraHTTPHeaders?.baggage;
    await use({ ...extraHTTPHeaders, baggage: own === undefined ? merchant.baggage : `${own},${merchant.baggage}` });
  },
});

export const expect: typeof import("@playwright/test").expect = playwright.expect;

/**
 * Playwright refuses to load twice. If this package is linked, it would resolve the copy in its own folder, so the copy
 * of the running project is tried first.
 */
function loadPlaywright(): typeof import("@playwright/test") {
  const ofProject = createRequire(join(process.cwd(), "package.json"));
  const ofPackage = createRequire(import.meta.url);
  try {
    return ofProject(ofProject.resolve("@playwright/test"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw error;
    return ofPackage("@playwright/test");
  }
}

/** The reason why a failed test may have seen no events: the app's calls acted as the app's own merchant. */
async function whyNothingHappened(merchant: OwnMerchant): Promise<string | undefined> {
  if ((await merchant.requests()).length > 0) return undefined;
  const why = process.env.MERCHANT_SANDBOX_URL
    ? "Check that the app runs with the variables of exec and adds the header baggage of each request to its calls " +
      "to the sandbox."
    : "MERCHANT_SANDBOX_URL is not set, so the tests started a sandbox of their own, which the app does not know: " +
      "run them under exec, or set it to the URL of the app's sandbox.";
  return `No call acted as ${merchant.id}, the merchant of this test. ${why}`;
}

/** The project, the file and the titles of a test. A retry or a repetition is another test. */
function nameOf({ project, titlePath, retry, repeatEachIndex }: TestInfo): string {
  const again = [retry > 0 && `retry ${retry}`, repeatEachIndex > 0 && `repetition ${repeatEachIndex}`];
  return [project.name, ...titlePath, ...again].filter(Boolean).join(" > ");
}
