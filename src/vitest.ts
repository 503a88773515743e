// Fixtures and matchers for Vitest: a shared sandbox, a merchant per test, and matchers that report the closest calls.

import { test as base, expect, type TestAPI } from "vitest";
import { explainResult } from "./client/verification-text.ts";
import type {
  ControlApi,
  Count,
  DeliveryMatch,
  Expectation,
  OwnMerchant,
  RequestMatch,
  Sandbox,
  SandboxOptions,
} from "./index.ts";
import { connect, createSandbox, ownMerchant, SandboxError } from "./index.ts";

/** A sandbox in this process or another. */
export type SharedSandbox = ControlApi & Pick<Sandbox, "url" | "baseUrl" | "close">;

export interface SandboxFixtures<Shared extends SharedSandbox = SharedSandbox> {
  /**
   * The sandbox that MERCHANT_SANDBOX_URL names, as under `exec`; otherwise one per worker. Changes beyond `merchant`,
   * such as to the clock, affect all tests that share it.
   */
  sandbox: Shared;
  /** A merchant with fixture data for this test only, removed after it. */
  merchant: OwnMerchant;
}

const testIn = <Shared extends SharedSandbox>(open: () => Promise<Shared>): TestAPI<SandboxFixtures<Shared>> =>
  base.extend<SandboxFixtures<Shared>>({
    sandbox: [
      // biome-ignore lint/correctness/noEmptyPattern: vitest reads the dependencies of a fixture from the pattern.
      async ({}, use) => {
        const sandbox = await open();
        await use(sandbox);
        await sandbox.close();
      },
      { scope: "worker" },
    ],
    merchant: async ({ sandbox }, use) => {
      const merchant = await ownMerchant(sandbox);
      await use(merchant);
      await merchant.remove();
    },
  });

/**
 * Creates a `test` with one sandbox per worker that has these options. Call it at the top of a file, not in a
 * `describe`.
 *
 * @example
 * const test = createTest({ clock: "2026-01-05T09:00:00Z" });
 */
export const createTest = (options: SandboxOptions): TestAPI<SandboxFixtures<Sandbox>> =>
  testIn(() => createSandbox(options));

export const test: TestAPI<SandboxFixtures> = testIn(openShared);
export { expect };

async function openShared(): Promise<SharedSandbox> {
  const { MERCHANT_SANDBOX_URL: url, MERCHANT_SANDBOX_CONTROL_TOKEN: controlToken } = process.env;
  if (!url) return createSandbox();
  const sandbox = connect(url, { controlToken });
  await sandbox.health().catch(({ message }: Error) => {
    throw new SandboxError(
      `${message} MERCHANT_SANDBOX_URL is ${url}; without it, each worker has a sandbox of its own.`,
    );
  });
  return { ...sandbox, url, baseUrl: `${url}/v1`, close: async () => {} };
}

/** How many matches are expected (default: at least one), and how long to wait for them. */
export interface HowOften {
  times?: number;
  atLeast?: number;
  atMost?: number;
  /** Waits up to this long in real time, such as `2s`. */
  within?: string;
}

/** How many deliveries are expected, with how many attempts and which final status (default of `within`: 5s). */
export interface HowDelivered extends HowOften {
  attempts?: Count;
  final?: "pending" | "sending" | "succeeded" | "failed" | "cancelled";
}

/** Asynchronous matchers for a merchant: `await` them. */
export interface SandboxMatchers {
  /** Asserts that requests like this were sent with the merchant's keys. */
  toHaveRequested(match: RequestMatch, wanted?: HowOften): Promise<void>;
  /** Asserts that webhooks of the merchant were delivered like this. */
  toHaveDelivered(match: DeliveryMatch, wanted?: HowDelivered): Promise<void>;
  /**
   * Asserts that no verdict on the merchant's clients and receivers is `fail`; of these rules only, such as `retry.*`
   * (default: all).
   */
  toHaveNoFailedVerdicts(rules?: string | string[]): Promise<void>;
}

declare module "vitest" {
  // biome-ignore lint/suspicious/noExplicitAny: any lets fixtures of each type be assigned to it
  interface Matchers<T = any> extends SandboxMatchers {}
}

expect.extend({
  toHaveRequested(merchant: OwnMerchant, match: RequestMatch, wanted: HowOften = {}) {
    return hold(merchant, { requests: { match, ...counted(wanted) } }, wanted.within);
  },
  toHaveDelivered(merchant: OwnMerchant, match: DeliveryMatch, { attempts, final, ...wanted }: HowDelivered = {}) {
    const deliveries = { match, ...counted(wanted), ...(attempts && { attempts }), ...(final && { final }) };
    // With `.not`, there is nothing to wait for.
    return hold(merchant, { deliveries }, wanted.within ?? (this.isNot ? undefined : "5s"));
  },
  async toHaveNoFailedVerdicts(merchant: OwnMerchant, rules: string | string[] = "*") {
    const { verdict, results } = await merchant.verify([{ verdicts: { rules: [rules].flat(), fail: { exactly: 0 } } }]);
    // Without a verdict, the result is inconclusive: nothing failed.
    return {
      pass: verdict !== "fail",
      message: () => results.map(({ message }) => `${merchant.id}: ${message}`).join("\n"),
    };
  },
});

function counted({ times, atLeast, atMost }: HowOften): { count?: Count } {
  const given = { exactly: times, atLeast, atMost };
  const count = Object.fromEntries(Object.entries(given).filter(([, number]) => number !== undefined));
  return Object.keys(count).length === 0 ? {} : { count };
}

async function hold(merchant: OwnMerchant, expectation: Expectation, within: string | undefined) {
  const { verdict, results } = await merchant.verify({
    all: [expectation],
    ...(within === undefined ? {} : { within }),
  });
  return {
    pass: verdict === "pass",
    message: () => results.map((result) => `${merchant.id}: ${explainResult(result)}`).join("\n"),
  };
}
