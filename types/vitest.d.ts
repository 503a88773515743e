// Written from the sources by `npm run docs`: change those, not this.

import { expect, type TestAPI } from "vitest";
import type { Count, DeliveryMatch, OwnMerchant, RequestMatch, Sandbox, SandboxOptions } from "./index.cjs";
export interface SandboxFixtures {
  /** One for each worker of vitest: what a test does to it beyond its own merchant, its neighbours see. */
  sandbox: Sandbox;
  /** This test's own, gone after it. */
  merchant: OwnMerchant;
}
/** A `test` whose sandbox has these options: to be made at the top of a file, not in a `describe`. */
export declare const createTest: (options?: SandboxOptions) => TestAPI<SandboxFixtures>;
export declare const test: TestAPI<SandboxFixtures>;
export { expect };
/** How often, and how long to wait for it. At least once unless given. */
export interface HowOften {
  times?: number;
  atLeast?: number;
  atMost?: number;
  /** Such as 2s, in real time. */
  within?: string;
}
/** The same of deliveries: of each, with how many attempts, and what it came to. They are waited for, 5s unless given. */
export interface HowDelivered extends HowOften {
  attempts?: Count;
  final?: "pending" | "sending" | "succeeded" | "failed" | "cancelled";
}
/** What is expected of a merchant: to be awaited. */
export interface SandboxMatchers {
  /** That its keys were used for requests like this. */
  toHaveRequested(match: RequestMatch, wanted?: HowOften): Promise<void>;
  /** That its events were delivered like this. */
  toHaveDelivered(match: DeliveryMatch, wanted?: HowDelivered): Promise<void>;
}
declare module "vitest" {
  interface Matchers<T = any> extends SandboxMatchers {
  }
}
