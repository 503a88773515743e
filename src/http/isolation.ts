// Isolation: a call may name a test's merchant in its `baggage` header, and then acts as that merchant. The test's
// merchant must have been created from the merchant of the call's key.

import { merchantInBaggage } from "../kernel/baggage.ts";
import { fail } from "../kernel/errors.ts";
import { mask } from "../kernel/mask.ts";
import type { Behaviour } from "../schema/assumed.ts";
import type { Identity, Tenants } from "../store/records/tenants.ts";
import type { RequestContext } from "./context.ts";

export type Isolation = "off" | "on" | "strict";

/**
 * The identity under which a call acts: the test's merchant in its `baggage` header if the key may act as it, otherwise
 * the key's own merchant.
 */
export function actingIdentity(
  tenants: Tenants,
  isolation: Isolation,
  { incoming }: RequestContext,
  own: Identity,
): Identity {
  if (isolation === "off" || incoming.headers.baggage === undefined) return own;
  const named = merchantInBaggage(incoming.headers.baggage);
  if (named === undefined || tenants.baseOf(named) !== own.merchant) return own;
  return tenants.identify(tenants.keyOf(named)) ?? own;
}

/** Rejects a call if its key may not act as the merchant that it names. With `strict`, also if it names no merchant. */
export function requireIsolation(
  tenants: Tenants,
  isolation: Isolation,
  { incoming }: RequestContext,
  { merchant }: Identity,
): void {
  if (isolation === "off") return;
  const named = merchantInBaggage(incoming.headers.baggage);
  if (named !== undefined && named !== merchant)
    fail(
      "test_merchant_refused",
      `The baggage header names ${mask(named, 100)}, which was not created from ${merchant}, or no longer ` +
        "exists. Create one with POST /_sandbox/merchants, and send its id.",
    );
  if (isolation === "strict" && tenants.baseOf(merchant) === undefined)
    fail(
      "test_merchant_missing",
      "This sandbox runs with --isolation strict, and the call names no merchant of a test. " +
        "Pass on the baggage header of the request that caused the call: baggage: merchant-sandbox=<merchant>.",
    );
}

export const behaviours: Behaviour[] = [
  {
    id: "isolation",
    fact:
      "With `--isolation on`, a call whose `baggage` header has the entry `merchant-sandbox=<merchant>` acts as that " +
      "merchant. If it was not created from the fixture of the key's own merchant, the call gets 403; with `strict`, " +
      "a call without the entry gets 403 too. If such a merchant has no endpoint, its webhooks go to the endpoints " +
      "of the key's own merchant, signed with the secrets of these endpoints, with a `baggage` header that names the " +
      "merchant.",
    why: "The service has no such header; tests of an app with one key need a merchant each.",
    setting: "--isolation",
  },
];
