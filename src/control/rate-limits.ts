// Rate-limit windows from outside: where each stands, and how to put one where a test wants it.

import { isoTime } from "../kernel/clock.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { tryParseDuration } from "../kernel/duration.ts";
import { fail } from "../kernel/errors.ts";
import { Type, text } from "../schema/shapes.ts";
import { type ControlContext, endpoint } from "./control-context.ts";

const MOST = 1_000_000_000;
const LONGEST = 366 * 86_400_000;

const Window = Type.Object(
  {
    merchant: Type.String(),
    operation: Type.Union([Type.String(), Type.Null()], { description: "The operation that has it for itself; null where all share it" }),
    limit: Type.Integer(),
    window: Type.Integer({ description: "Milliseconds" }),
    remaining: Type.Integer(),
    reset: Type.String({ description: "When it ends, in sandbox time" }),
    resetIn: Type.Integer({ description: "Milliseconds until then" }),
  },
  { title: "rate_window" },
);

type Reach = Pick<ControlContext, "limiter" | "clock" | "tenants">;

function windowsOf({ limiter, clock }: Reach, merchant: string) {
  const now = clock.now();
  const all = [[null, limiter.of(merchant)] as const, ...limiter.ownOf(merchant)];
  return all.map(([operation, bucket]) => {
    const reset = bucket.reset(now);
    const { limit, window } = bucket;
    return { merchant, operation, limit, window, remaining: bucket.remaining(now), reset: isoTime(reset), resetIn: reset - now };
  });
}

export const listWindows = endpoint({
  id: "rate_limits.list",
  area: "Rate limits",
  method: "GET",
  path: "/rate-limits",
  summary: "The rate-limit windows of every merchant",
  reply: Type.Object({ data: Type.Array(Window) }),
  handle: (context) => ({ data: context.tenants.list().flatMap(({ id }) => windowsOf(context, id)) }),
});

const span = (description: string) => Type.Optional(text(`${description}, such as 10s`, { maxLength: 30 }));

export const setWindow = endpoint({
  id: "rate_limits.set",
  area: "Rate limits",
  method: "PUT",
  path: "/rate-limits/{merchant}",
  exampleParams: { merchant: "mer_lodge" },
  summary: "Put a merchant's rate-limit window where a test wants it",
  description: "Limit and window hold until a reset; what remains and when it ends hold for the present window only.",
  body: Type.Object({
    limit: Type.Optional(Type.Integer({ description: "Requests per window", minimum: 1, maximum: MOST })),
    window: span("How long a window is"),
    remaining: Type.Optional(Type.Integer({ description: "How many are left", minimum: 0, maximum: MOST })),
    resetIn: span("When the present window ends"),
  }),
  example: { remaining: 0, resetIn: "10s" },
  reply: Window,
  errors: ["validation_failed", "resource_not_found"],
  handle({ params: { merchant }, body, ...context }) {
    const known = context.tenants.list().map(({ id }) => id);
    if (!known.includes(merchant))
      fail("resource_not_found", `There is no merchant ${merchant}.${didYouMean(merchant, known) || " GET /_sandbox lists them."}`);
    const { limit, remaining } = body;
    const bucket = context.limiter.of(merchant);
    const most = limit ?? bucket.limit;
    if (remaining !== undefined && remaining > most)
      fail("validation_failed", `remaining must be at most the limit, which is ${most}; received ${remaining}.`);
    const change = { limit, remaining, window: spanOf("window", body.window), resetIn: spanOf("resetIn", body.resetIn) };
    bucket.set(change, context.clock.now());
    return windowsOf(context, merchant)[0] as ReturnType<typeof windowsOf>[number];
  },
});

function spanOf(field: string, written: string | undefined): number | undefined {
  if (written === undefined) return undefined;
  const span = tryParseDuration(written) ?? 0;
  if (span >= 1 && span <= LONGEST) return span;
  return fail("validation_failed", `${field} must be a span such as 500ms or 10s, a year at most; received ${JSON.stringify(written)}.`);
}
