// What can be done to a delivery: one entry an action, in the order of the page.

import type { DeliveryEffect } from "../contracts/fault.ts";
import { count, flag, Type, text } from "../schema/shapes.ts";
import { onDeliveries } from "./action.ts";
import { choice, milliseconds, span } from "./fields.ts";

type Form<Kind extends DeliveryEffect["kind"]> = Extract<DeliveryEffect, { kind: Kind; as: string }>["as"];

const MOST_COPIES = 100;
const EVERY_ATTEMPT = Number.MAX_SAFE_INTEGER;

const duplicate = onDeliveries({
  type: "duplicate",
  phase: "schedule",
  does: "Delivers an event more than once, with the same id and the same bytes.",
  example: "duplicate=2 payment.succeeded --concurrent",
  main: "copies",
  fields: {
    copies: Type.Optional(count("How many arrive in all; 2 unless given", { minimum: 2, maximum: MOST_COPIES })),
    gap: Type.Optional(span("How long after one the next is sent; at once unless given")),
    concurrent: Type.Optional(flag("All at the same moment, on a connection each")),
  },
  check: ({ gap, concurrent }) => (concurrent && gap !== undefined ? "action.gap and action.concurrent exclude one another." : undefined),
  prepare: ({ copies = 2, gap = "0ms", concurrent = false }) => {
    const between = milliseconds(gap);
    return () => ({ kind: "duplicate", copies, gap: between, concurrent });
  },
});

const reorder = onDeliveries({
  type: "reorder",
  phase: "schedule",
  does: "Holds events back until a batch of them is there, and delivers them in another order.",
  example: "reorder=3 --order reverse",
  main: "batch",
  fields: {
    batch: Type.Optional(count("How many make a batch; 2 unless given", { minimum: 2, maximum: MOST_COPIES })),
    order: choice(["reverse", "shuffle"], "The order in which they go out; `reverse` unless given"),
    hold: Type.Optional(span("The longest wait for a batch to fill, after which what is there goes out; a day unless given")),
  },
  usualTimes: ({ batch = 2 }) => batch,
  prepare: ({ batch = 2, order = "reverse", hold }) => {
    const longest = hold === undefined ? undefined : milliseconds(hold);
    return () => ({ kind: "reorder", batch, order, hold: longest });
  },
});

const delay = onDeliveries({
  type: "delay",
  phase: "schedule",
  does: "Delivers an event later, after another one, or before the API call that made it has returned.",
  example: "delay=5s payment.succeeded",
  main: "by",
  fields: {
    by: Type.Optional(span("How much later, in sandbox time")),
    until: Type.Optional(
      Type.Unsafe<"before_response" | { after: string }>(
        Type.Union(
          [
            Type.String({ const: "before_response" }),
            Type.Object({ after: text("A type of event, such as payout.paid", { minLength: 1 }) }, { additionalProperties: false }),
          ],
          { description: "`before_response`, or {after: TYPE}: once an event of that type was delivered, or after a day" },
        ),
      ),
    ),
  },
  check: ({ by, until }) =>
    (by === undefined) === (until === undefined) ? "A delay has either action.by or action.until: give one of them." : undefined,
  prepare: ({ by, until = "before_response" }) => {
    if (by === undefined) return () => ({ kind: "delay", until });
    const later = milliseconds(by);
    return () => ({ kind: "delay", by: later });
  },
});

const drop = onDeliveries({
  type: "drop",
  phase: "schedule",
  does: "Does not send an attempt, and logs it as dropped; the next one follows by the usual schedule.",
  example: "drop=2 payment.succeeded",
  main: "attempts",
  fields: {
    attempts: Type.Optional(
      Type.Unsafe<number | "all">(
        Type.Union([count("How many", { minimum: 1 }), Type.String({ const: "all" })], {
          description: "How many attempts of a delivery, or `all`; 1 unless given",
        }),
      ),
    ),
  },
  attempts: ({ attempts = 1 }) => (attempts === "all" ? EVERY_ATTEMPT : attempts),
  prepare: () => () => ({ kind: "drop" }),
});

const signature = onDeliveries({
  type: "signature",
  phase: "content",
  does: "Sends a delivery whose signature is not what it should be.",
  example: "signature=wrong_secret payment.succeeded",
  main: "as",
  fields: {
    as: choice<Form<"signature">>(
      ["missing", "wrong_secret", "previous_secret", "body_changed", "malformed"],
      "What is wrong with it; `wrong_secret` unless given",
    ),
  },
  prepare:
    ({ as = "wrong_secret" }) =>
    () => ({ kind: "signature", as }),
});

const payload = onDeliveries({
  type: "payload",
  phase: "content",
  does: "Changes what is sent, and signs it as changed.",
  example: `payload=patch payment.succeeded --patch '{"/data/amount":777}'`,
  main: "as",
  fields: {
    as: choice<Form<"payload">>(
      ["patch", "truncate", "unknown_type", "extra_field", "invalid_json"],
      "What is changed; `extra_field` unless given, or `patch` where there is one",
    ),
    patch: Type.Optional(Type.Record(Type.Unknown(), { description: "JSON Pointers into the event, and what shall stand there" })),
  },
  check: ({ as, patch }) => {
    if (as === "patch" && patch === undefined) return `action.patch is required, as in {"/data/amount": 777}.`;
    if (patch !== undefined && as !== undefined && as !== "patch") return "action.patch belongs to as: patch; leave it out.";
    const wrong = Object.keys(patch ?? {}).find((pointer) => !pointer.startsWith("/"));
    return wrong === undefined ? undefined : `action.patch takes JSON Pointers such as /data/amount; received ${JSON.stringify(wrong)}.`;
  },
  prepare: ({ patch, as = patch === undefined ? "extra_field" : "patch" }) => {
    const changes = patch ?? {};
    return () => ({ kind: "payload", as, patch: changes });
  },
});

const transport = onDeliveries({
  type: "transport",
  phase: "transport",
  does: "Sends a delivery slowly, under a wrong Content-Type, or only half of it.",
  example: "transport=slow_send payment.succeeded",
  main: "as",
  fields: {
    as: choice<Form<"transport">>(["slow_send", "wrong_content_type", "abort_mid_body"], "How it is sent; `slow_send` unless given"),
  },
  prepare:
    ({ as = "slow_send" }) =>
    () => ({ kind: "transport", as }),
});

const retryPolicy = onDeliveries({
  type: "retry_policy",
  phase: "retry",
  does: "Retries what succeeded, gives up what failed, or retries faster than the schedule says.",
  example: "retry-policy=compress payment.succeeded --factor 10",
  main: "as",
  fields: {
    as: choice<Form<"retry_policy">>(["ignore_2xx", "give_up", "compress"], "What is done; `ignore_2xx` unless given"),
    factor: Type.Optional(
      Type.Number({ description: "By how much compress shortens the gaps; 10 unless given", minimum: 1, maximum: 1_000_000 }),
    ),
  },
  check: ({ as, factor }) =>
    factor !== undefined && as !== "compress" ? "action.factor belongs to as: compress; leave it out." : undefined,
  attempts: () => EVERY_ATTEMPT,
  prepare:
    ({ as = "ignore_2xx", factor = 10 }) =>
    () => ({ kind: "retry_policy", as, factor }),
});

export const deliveryActions = [duplicate, reorder, delay, drop, signature, payload, transport, retryPolicy] as const;
