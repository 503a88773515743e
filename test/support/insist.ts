// Retries one order until it gets a 200.

import type { Bench } from "./sandbox.ts";

export const ORDER = { name: "Low season", adjustmentType: "fixed", adjustmentValue: 5 };

/** Sends the order up to five times with the same key. Returns the status of each try, or `lost`. */
export async function insist(
  bench: Bench,
  idempotencyKey: string,
  key = "sk_test_lodge",
): Promise<(string | number)[]> {
  const met: (string | number)[] = [];
  for (let tries = 0; tries < 5 && met.at(-1) !== 200; tries++) {
    const options = { key, body: ORDER, headers: { "idempotency-key": idempotencyKey } };
    const answer = await bench.call("POST", "/v1/hospitality/pricing-rules", options).catch(() => undefined);
    met.push(answer?.status ?? "lost");
  }
  return met;
}
