// For vitest: a sandbox for each worker, a merchant of its own for each test, and matchers that tell what came nearest.

import { test as base, expect, type TestAPI } from "vitest";
import type {
  Count,
  DeliveryMatch,
  Expectation,
  NearMiss,
  OwnMerchant,
  RequestMatch,
  Sandbox,
  SandboxOptions,
  VerificationResult,
} from "./index.ts";
import { createSandbox, ownMerchant } from "./index.ts";

export interface SandboxFixtures {
  /** One for each worker of vitest: what a test does to it beyond its own merchant, its neighbours see. */
  sandbox: Sandbox;
  /** This test's own, gone after it. */
  merchant: OwnMerchant;
}

/** A `test` whose sandbox has these options: to be made at the top of a file, not in a `describe`. */
export const createTest = (options: SandboxOptions = {}): TestAPI<SandboxFixtures> =>
  base.extend<SandboxFixtures>({
    sandbox: [
      // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern what a fixture needs.
      async ({}, use) => {
        const sandbox = await createSandbox(options);
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

export const test: TestAPI<SandboxFixtures> = createTest();
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
  // biome-ignore lint/suspicious/noExplicitAny: an interface is added to only under the very parameters it was declared with.
  interface Matchers<T = any> extends SandboxMatchers {}
}

expect.extend({
  toHaveRequested(merchant: OwnMerchant, match: RequestMatch, wanted: HowOften = {}) {
    return hold(merchant, { requests: { match, ...counted(wanted) } }, wanted.within);
  },
  toHaveDelivered(merchant: OwnMerchant, match: DeliveryMatch, { attempts, final, ...wanted }: HowDelivered = {}) {
    const deliveries = { match, ...counted(wanted), ...(attempts && { attempts }), ...(final && { final }) };
    // What is not to come is not waited for.
    return hold(merchant, { deliveries }, wanted.within ?? (this.isNot ? undefined : "5s"));
  },
});

function counted({ times, atLeast, atMost }: HowOften): { count?: Count } {
  const given = { exactly: times, at_least: atLeast, at_most: atMost };
  const count = Object.fromEntries(Object.entries(given).filter(([, number]) => number !== undefined));
  return Object.keys(count).length === 0 ? {} : { count };
}

async function hold(merchant: OwnMerchant, expectation: Expectation, within: string | undefined) {
  const { verdict, results } = await merchant.verify({ all: [expectation], ...(within === undefined ? {} : { within }) });
  return { pass: verdict === "pass", message: () => results.map((result) => told(merchant, result)).join("\n") };
}

function told({ id }: OwnMerchant, { message, evidence, closest }: VerificationResult): string {
  const found = evidence.length > 0 ? [`Matched: ${evidence.join(", ")}`] : [];
  const nearest = closest.length > 0 ? ["Closest:", ...closest.map(missed)] : [];
  return [`${id}: ${message}`, ...found, ...nearest].join("\n");
}

function missed({ id, what, differs }: NearMiss): string {
  const shown = (value: unknown) => JSON.stringify(value);
  const where = differs.map(({ field, wanted, received }) => `${field} is ${shown(received)}, wanted was ${shown(wanted)}`);
  return `  ${id} ${what}: ${where.join("; ")}`;
}
