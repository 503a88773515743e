// Authentication: exactly one `Authorization: Bearer sk_test_…` header, and no live key anywhere in the request.

import type { IncomingMessage } from "node:http";
import { fail } from "../kernel/errors.ts";
import { containsLiveKey } from "../kernel/mask.ts";
import type { Behaviour } from "../schema/assumed.ts";
import type { Identity, Tenants } from "../store/records/tenants.ts";
import { contextOf, headerOnce, type RequestContext, type Stage } from "./context.ts";
import { actingIdentity, type Isolation, requireIsolation } from "./isolation.ts";
import type { RateLimiter } from "./rate-limit.ts";

const INVALID_TOKEN = { "WWW-Authenticate": 'Bearer error="invalid_token"' };

/**
 * Looks up the key's identity without rejecting the request, so that every response can carry the caller's rate limit
 * headers.
 */
export function identify(
  tenants: Tenants,
  limiter: RateLimiter,
  isolation: Isolation,
): (context: RequestContext) => void {
  return (context) => {
    const token = bearer(context.incoming.headers.authorization);
    const own = token?.startsWith("sk_test_") ? tenants.identify(token) : undefined;
    context.identity = own && actingIdentity(tenants, isolation, context, own);
    context.bucket = limiter.bucket(context);
  };
}

/** Calls `onFailure` for each failed authentication, to charge it to the rate limit window of the client's address. */
export function authenticate(
  tenants: Tenants,
  isolation: Isolation,
  onFailure: (context: RequestContext) => void,
): Stage {
  return (request, _response, next) => {
    const context = contextOf(request);
    try {
      requireIsolation(tenants, isolation, context, check(context));
    } catch (error) {
      onFailure(context);
      throw error;
    }
    next();
  };
}

function check(context: RequestContext): Identity {
  const { incoming } = context;
  refuseLiveKeyIn(incoming);
  const sent = headerOnce(incoming, "authorization");
  if (sent === undefined)
    fail(
      "missing_api_key",
      "No Authorization header was sent. " +
        "Send `Authorization: Bearer sk_test_…` with one of the keys that the sandbox printed at its start.",
    );
  const token = typeof sent === "string" ? bearer(sent) : undefined;
  if (token === undefined)
    fail(
      "malformed_authorization",
      "Authorization must be exactly one `Bearer sk_test_…`: that scheme, one space, and the key.",
    );
  const { identity } = context;
  if (!identity)
    fail(
      "invalid_api_key",
      "This sandbox knows no such key. Its keys are listed at GET /_sandbox; " +
        "a key created before a reset is no longer valid.",
      {},
      INVALID_TOKEN,
    );
  if (identity.expires !== null && identity.expires <= context.at)
    fail("token_expired", "The session has expired. Log in again at POST /v1/merchants/login.", {}, INVALID_TOKEN);
  if (identity.status === "suspended") fail("merchant_suspended", `The merchant ${identity.merchant} is suspended.`);
  return identity;
}

/** Rejects a live key in the target or in a header. */
export function refuseLiveKeyIn({ url = "", rawHeaders }: IncomingMessage): void {
  refuseLiveKey(url);
  for (const text of rawHeaders) refuseLiveKey(text);
}

/** Rejects a live key in any part of a request. Reads only the key's prefix. */
export function refuseLiveKey(text: string): void {
  if (!containsLiveKey(text)) return;
  fail(
    "live_key_refused",
    "A live key was sent; this sandbox takes sk_test_ keys only. " +
      "Rotate that key: it was just sent in clear to a local process.",
  );
}

/** The token of `Bearer <token>`; the scheme is case-insensitive. */
function bearer(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(header)?.[1];
}

export const behaviours: Behaviour[] = [
  {
    id: "auth.keys",
    fact:
      "A key or token acts for one merchant and sees only its records. " +
      "It is sent as `Bearer` in one Authorization header, and has no scopes.",
    why: "The service's documentation speaks of the caller's own records and shows no permissions.",
  },
  {
    id: "auth.live_keys",
    fact: "A request with `sk_live_` in any part of it is rejected with 403, and the key is not stored.",
    why: "The service's documentation has live keys; a local program must not take one.",
  },
  {
    id: "auth.sessions",
    fact:
      "Login returns a token that works like an API key of the merchant. It expires after an hour; later calls get " +
      "401 `token_expired`. Any key can log in as any merchant of the sandbox. " +
      "An unknown email and a wrong password get the same 401.",
    why: "The service's documentation does not say how a token is obtained or how long it is valid.",
  },
];
