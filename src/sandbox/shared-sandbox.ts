// The sandbox that all tests of a run share, and a merchant for each test. Used by the fixtures for test runners.

import type { ControlApi } from "../../generated/control-api.ts";
import { connect } from "../client/http-transport.ts";
import { type OwnMerchant, ownMerchant } from "../client/test-merchant.ts";
import { SandboxError } from "../kernel/errors.ts";
import { createSandbox, type Sandbox } from "./create.ts";

/** A sandbox in this process or another. */
export type SharedSandbox = ControlApi & Pick<Sandbox, "url" | "baseUrl" | "close">;

/** A test gets this from the fixtures for Vitest and Playwright, and from `withMerchant`. */
export interface TestFixtures<Shared extends SharedSandbox = SharedSandbox> {
  /**
   * The sandbox at MERCHANT_SANDBOX_URL, which `exec` sets. Without it, one sandbox for all tests of this process.
   * Changes beyond `merchant`, such as to the clock, affect all tests that share it.
   */
  sandbox: Shared;
  /**
   * A merchant with fixture data for this test only, removed after it. It is named after the test, so its ids, keys and
   * faults are the same in every run.
   */
  merchant: OwnMerchant;
}

/** The sandbox that MERCHANT_SANDBOX_URL names, or a new one in memory. `close` closes only a new one. */
export async function openSharedSandbox(): Promise<SharedSandbox> {
  const { MERCHANT_SANDBOX_URL: url, MERCHANT_SANDBOX_CONTROL_TOKEN: controlToken } = process.env;
  if (!url) return createSandbox();
  const sandbox = connect(url, { controlToken });
  await sandbox.health().catch(({ message }: Error) => {
    throw new SandboxError(
      `${message} MERCHANT_SANDBOX_URL is ${url}. Unset it, and the tests start a sandbox of their own.`,
    );
  });
  return { ...sandbox, url, baseUrl: `${url}/v1`, close: async () => {} };
}

/** The longest name of a merchant. */
const LONGEST_NAME = 1_000;

/**
 * Creates a merchant for a test, from the fixture of the app's own merchant, so that the app can also act as the new
 * one. The app's own merchant is the one whose key is MERCHANT_API_KEY (default: the merchant of the first fixture).
 */
export async function createTestMerchant(sandbox: ControlApi, name: string | undefined): Promise<OwnMerchant> {
  const { MERCHANT_API_KEY: key } = process.env;
  const { merchants } = key ? await sandbox.overview() : { merchants: [] };
  const base = merchants.find(({ apiKeys }) => apiKeys.includes(key as string));
  return ownMerchant(sandbox, { fixture: base?.id, name: name?.slice(0, LONGEST_NAME) });
}

/**
 * Gives a test of any runner, such as Jest or node:test, a sandbox and a merchant of its own. Removes the merchant
 * after the test.
 *
 * @example
 * test("declines a booking", withMerchant(async ({ merchant }) => { … }));
 */
export function withMerchant<Given extends unknown[]>(
  run: (fixtures: TestFixtures, ...given: Given) => unknown,
): (...given: Given) => Promise<void> {
  return async (...given) => {
    const sandbox = await openSharedSandbox();
    try {
      const merchant = await createTestMerchant(sandbox, nameOf(given[0]));
      await run({ sandbox, merchant }, ...given);
      await merchant.remove();
    } finally {
      await sandbox.close();
    }
  };
}

interface TestNames {
  expect?: { getState?(): { currentTestName?: string; testPath?: string } };
}

/** The name of a test: node:test passes it to the test, and Jest has it in its global `expect`. */
function nameOf(context: unknown): string | undefined {
  const { fullName, name } = (context ?? {}) as { fullName?: unknown; name?: unknown };
  const { currentTestName, testPath } = (globalThis as TestNames).expect?.getState?.() ?? {};
  const found = [fullName, name].find((one) => typeof one === "string" && one !== "") as string | undefined;
  return found ?? (currentTestName && `${testPath ?? ""} > ${currentTestName}`);
}
