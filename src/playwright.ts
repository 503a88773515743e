// Fixtures for Playwright: a shared sandbox, and a merchant per test, which the browser names in its `baggage` header.

import {
  test as base,
  expect,
  type PlaywrightTestArgs,
  type PlaywrightTestOptions,
  type PlaywrightWorkerArgs,
  type PlaywrightWorkerOptions,
  type TestInfo,
  type TestType,
} from "@playwright/test";
import { createTestMerchant, openSharedSandbox, type SharedSandbox, type TestFixtures } from "./index.ts";

/**
 * `page` and `request` send the header `baggage` with the test's merchant. An app that passes the header on to the
 * sandbox then acts as this merchant, with the one key of its environment.
 */
export const test: TestType<
  PlaywrightTestArgs & PlaywrightTestOptions & Pick<TestFixtures, "merchant">,
  PlaywrightWorkerArgs & PlaywrightWorkerOptions & Pick<TestFixtures, "sandbox">
> = base.extend<Pick<TestFixtures, "merchant">, { sandbox: SharedSandbox }>({
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
    await merchant.remove();
  },
  extraHTTPHeaders: async ({ extraHTTPHeaders, merchant }, use) => {
    const own = extraHTTPHeaders?.baggage;
    await use({ ...extraHTTPHeaders, baggage: own === undefined ? merchant.baggage : `${own},${merchant.baggage}` });
  },
});

export { expect };

/** The project, the file and the titles of a test. A retry or a repetition is another test. */
function nameOf({ project, titlePath, retry, repeatEachIndex }: TestInfo): string {
  const again = [retry > 0 && `retry ${retry}`, repeatEachIndex > 0 && `repetition ${repeatEachIndex}`];
  return [project.name, ...titlePath, ...again].filter(Boolean).join(" > ");
}
