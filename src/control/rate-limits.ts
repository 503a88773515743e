// Rate-limit windows: list them, and set one for a test.

import { endpointFactory } from "../areas/declare/operation.ts";
import type { RateLimiter } from "../http/rate-limit.ts";
import { type Clock, isoTime } from "../kernel/clock.ts";
import { fail } from "../kernel/errors.ts";
import { nullable, Type, text } from "../schema/shapes.ts";
import type { Stores } from "../store/stores.ts";
import { LISTED_MERCHANTS, listedMerchants, spanOf } from "./given-values.ts";

interface Parts extends Pick<Stores, "tenants"> {
  clock: Clock;
  limiter: Pick<RateLimiter, "of" | "windowsOf">;
}

const endpoint = endpointFactory<Parts>("Rate limits");

const MAX_COUNT = 1_000_000_000;
const WINDOWS = { from: "1ms", to: "366d" };

const Window = Type.Object(
  {
    merchant: Type.String(),
    operation: nullable(
      Type.String({ description: "Operation with its own window; null for the window of all other operations" }),
    ),
    limit: Type.Integer(),
    window: Type.Integer({ description: "Milliseconds" }),
    remaining: Type.Integer(),
    reset: Type.String({ description: "End of the window, in sandbox time" }),
    resetIn: Type.Integer({ description: "Milliseconds until the window ends" }),
  },
  { title: "rate_window" },
);

function windowsOf({ limiter, clock }: Parts, merchant: string) {
  const now = clock.now();
  return limiter.windowsOf(merchant).map(([operation, bucket]) => {
    const reset = bucket.reset(now);
    const { limit, window } = bucket;
    return {
      merchant,
      operation,
      limit,
      window,
      remaining: bucket.remaining(now),
      reset: isoTime(reset),
      resetIn: reset - now,
    };
  });
}

const listWindows = endpoint({
  id: "rate_limits.list",
  method: "GET",
  path: "/rate-limits",
  summary: "List the rate-limit windows of all merchants",
  description: LISTED_MERCHANTS,
  query: Type.Object({ merchant: Type.Optional(text("Only windows of this merchant")) }),
  reply: Type.Object({ data: Type.Array(Window) }),
  errors: ["resource_not_found"],
  handle: ({ query: { merchant }, ...context }) => ({
    data: listedMerchants(context, merchant).flatMap((id) => windowsOf(context, id)),
  }),
});

const span = (description: string) => Type.Optional(text(`${description}, such as 10s`, { maxLength: 30 }));

const setWindow = endpoint({
  id: "rate_limits.set",
  method: "PUT",
  path: "/rate-limits/{merchant}",
  exampleParams: { merchant: "mer_lodge" },
  summary: "Set a merchant's rate-limit window",
  description: "`limit` and `window` apply until a reset; `remaining` and `resetIn` apply to the current window only.",
  body: Type.Object({
    limit: Type.Optional(Type.Integer({ description: "Requests per window", minimum: 1, maximum: MAX_COUNT })),
    window: span("Length of a window"),
    remaining: Type.Optional(
      Type.Integer({ description: "Requests left in the current window", minimum: 0, maximum: MAX_COUNT }),
    ),
    resetIn: span("Time until the current window ends"),
  }),
  example: { remaining: 0, resetIn: "10s" },
  reply: Window,
  errors: ["resource_not_found"],
  handle({ params: { merchant }, body, ...context }) {
    context.tenants.require(merchant);
    const { limit, remaining } = body;
    const bucket = context.limiter.of(merchant);
    const most = limit ?? bucket.limit;
    if (remaining !== undefined && remaining > most)
      fail("validation_failed", `remaining must be at most the limit, which is ${most}; received ${remaining}.`);
    const change = {
      limit,
      remaining,
      window: spanOf("window", body.window, WINDOWS),
      resetIn: spanOf("resetIn", body.resetIn, WINDOWS),
    };
    bucket.set(change, context.clock.now());
    return windowsOf(context, merchant)[0] as ReturnType<typeof windowsOf>[number];
  },
});

export const operations = [listWindows, setWindow];
