// Written from the sources by `npm run docs`: change those, not this.

import { expect, type TestAPI } from "vitest";
import type { Count, DeliveryMatch, RequestMatch, Sandbox, SandboxOptions, SharedSandbox, TestFixtures } from "./index.cjs";
export type { SharedSandbox } from "./index.cjs";
/** The fixtures of a test. */
export interface SandboxFixtures<Shared extends SharedSandbox = SharedSandbox> extends TestFixtures<Shared> {
}
/**
 * Creates a `test` with one sandbox per worker that has these options. Call it at the top of a file, not in a
 * `describe`.
 *
 * @example
 * const test = createTest({ clock: "2026-01-05T09:00:00Z" });
 */
export declare const createTest: (options: SandboxOptions) => TestAPI<SandboxFixtures<Sandbox>>;
export declare const test: TestAPI<SandboxFixtures>;
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
  namespace Chai {
    interface Assertion extends SandboxMatchers {
    }
  }
}
