// Fixtures and matchers for Vitest: a shared sandbox, a merchant per test, and matchers that report the closest calls.

import { test as base, expect, type TestAPI, type TestContext } from "vitest";
import { explainResult } from "./client/verification-text.ts";
import type {
  Count,
  DeliveryMatch,
  Expectation,
  OwnMerchant,
  RequestMatch,
  Sandbox,
  SandboxOptions,
  SharedSandbox,
  TestFixtures,
} from "./index.ts";
import { createSandbox, createTestMerchant, openSharedSandbox } from "./index.ts";
import { realNow } from "./kernel/clock.ts";
import { tryParseDuration } from "./kernel/duration.ts";

export type { SharedSandbox } from "./index.ts";

/** The fixtures of a test. */
export interface SandboxFixtures<Shared extends SharedSandbox = SharedSandbox> extends TestFixtures<Shared> {}

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
    merchant: async ({ sandbox, task }, use) => {
      const endsAt = task.timeout > 0 ? realNow() + task.timeout - BEFORE_TIMEOUT : Infinity;
      const merchant = await createTestMerchant(sandbox, nameOf(task));
      deadlines.set(merchant, endsAt);
      await use(merchant);
      await merchant.remove();
    },
  });

/** A matcher ends this many milliseconds before the test's own timeout, so that its message is shown. */
const BEFORE_TIMEOUT = 300;
/** When the matchers for the merchant of a test end at the latest, in real milliseconds. */
const deadlines = new WeakMap<OwnMerchant, number>();

/** The project, the file, the suites and the title of a test. A retry is another test: the logs keep the first try. */
function nameOf({ name, suite, file, result }: TestContext["task"]): string {
  const titles = [name];
  for (let outer = suite; outer; outer = outer.suite) titles.unshift(outer.name);
  const retry = result?.retryCount ? [`retry ${result.retryCount}`] : [];
  return [file.projectName ?? "", file.name, ...titles, ...retry].filter((part) => part !== "").join(" > ");
}

/**
 * Creates a `test` with one sandbox per worker that has these options. Call it at the top of a file, not in a
 * `describe`.
 *
 * @example
 * const test = createTest({ clock: "2026-01-05T09:00:00Z" });
 */
export const createTest = (options: SandboxOptions): TestAPI<SandboxFixtures<Sandbox>> =>
  testIn(() => createSandbox(options));

export const test: TestAPI<SandboxFixtures> = testIn(openSharedSandbox);
export { expect };

/** How many matches are expected (default: at least one), and how long to wait for them. */
export interface HowOften {
  times?: number;
  atLeast?: number;
  atMost?: number;
  /** Waits up to this long in real time, such as `2s`, and at most until shortly before the test's own timeout. */
  within?: string;
}

/** How many deliveries are expected, with how many attempts and which final status (default of `within`: 4s). */
export interface HowDelivered extends HowOften {
  attempts?: Count;
  final?: "pending" | "sending" | "succeeded" | "failed" | "cancelled";
}

/** Asynchronous matchers for a merchant: `await` them. */
export interface SandboxMatchers {
  /** Asserts that requests like this were sent with the merchant's keys. */
  toHaveRequested(match: RequestMatch, expected?: HowOften): Promise<void>;
  /** Asserts that webhooks of the merchant were delivered like this. */
  toHaveDelivered(match: DeliveryMatch, expected?: HowDelivered): Promise<void>;
  /**
   * Asserts that no verdict on the merchant's clients and receivers is `fail`. `rules` limits this to some rules, such
   * as `retry.*`.
   */
  toHaveNoFailedVerdicts(rules?: string | string[]): Promise<void>;
}

/**
 * The assertions of Vitest extend this interface. Its own `Matchers` cannot be extended for all versions, because it
 * has another type parameter since Vitest 5.
 */
declare global {
  // biome-ignore lint/style/noNamespace: @types/chai declares the interface in this namespace
  namespace Chai {
    interface Assertion extends SandboxMatchers {}
  }
}

expect.extend({
  toHaveRequested(merchant: OwnMerchant, match: RequestMatch, expected: HowOften = {}) {
    return hold(merchant, { requests: { match, ...counted(expected) } }, expected.within);
  },
  async toHaveDelivered(
    merchant: OwnMerchant,
    match: DeliveryMatch,
    { attempts, final, ...expected }: HowDelivered = {},
  ) {
    const deliveries = { match, ...counted(expected), ...(attempts && { attempts }), ...(final && { final }) };
    // With `.not`, there is nothing to wait for.
    const held = await hold(merchant, { deliveries }, expected.within ?? (this.isNot ? undefined : "4s"));
    if (held.pass || this.isNot) return held;
    const judged = await noFailure(merchant, ["webhook.*"]);
    return judged.pass ? held : { pass: false, message: () => `${held.message()}\n${judged.message()}` };
  },
  toHaveNoFailedVerdicts(merchant: OwnMerchant, rules: string | string[] = "*") {
    return noFailure(merchant, [rules].flat());
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
    ...(within === undefined ? {} : { within: beforeTimeout(within, merchant) }),
  });
  return {
    pass: verdict === "pass",
    message: () => results.map((result) => `${merchant.id}: ${explainResult(result)}`).join("\n"),
  };
}

async function noFailure(merchant: OwnMerchant, rules: string[]) {
  const { verdict, results } = await merchant.verify([{ verdicts: { rules, fail: { exactly: 0 } } }]);
  // Without a verdict, the result is inconclusive: nothing failed.
  return {
    pass: verdict !== "fail",
    message: () => results.map(({ message }) => `${merchant.id}: ${message}`).join("\n"),
  };
}

/** The wait, or a shorter one that ends before the test's timeout. */
function beforeTimeout(within: string, merchant: OwnMerchant): string {
  const left = (deadlines.get(merchant) ?? Infinity) - realNow();
  const isShort = (tryParseDuration(within) ?? 0) <= left;
  return isShort ? within : `${Math.max(0, Math.floor(left))}ms`;
}
