// The actions on deliveries, in the order of the documentation.

import type { DeliveryEffect } from "../contracts/fault.ts";
import { count, flag, Type, text, withDefault } from "../schema/shapes.ts";
import { onDeliveries } from "./action.ts";
import { choice, milliseconds, span } from "./fields.ts";

type VariantOf<Kind extends DeliveryEffect["kind"]> = Extract<DeliveryEffect, { kind: Kind; as: string }>["as"];

const MOST_COPIES = 100;
const EVERY_ATTEMPT = Number.MAX_SAFE_INTEGER;

const duplicate = onDeliveries({
  type: "duplicate",
  phase: "schedule",
  description: "Delivers an event more than once, with the same id and the same bytes.",
  example: "duplicate=2 payment.succeeded --concurrent",
  main: "copies",
  outcome: "genuine",
  fields: {
    copies: Type.Optional(withDefault(count("How many arrive in all", { minimum: 2, maximum: MOST_COPIES }), "2")),
    gap: Type.Optional(withDefault(span("Pause before the next copy is sent"), "at once")),
    concurrent: Type.Optional(flag("All at the same time, each on its own connection")),
  },
  check: ({ gap, concurrent }) =>
    concurrent && gap !== undefined ? "action.gap and action.concurrent exclude each other." : undefined,
  prepare: ({ copies = 2, gap = "0ms", concurrent = false }) => ({
    kind: "duplicate",
    copies,
    gap: milliseconds(gap),
    concurrent,
  }),
});

const reorder = onDeliveries({
  type: "reorder",
  phase: "schedule",
  description: "Holds events back until a batch is complete, then delivers them in another order.",
  example: "reorder=3 --order reverse",
  main: "batch",
  outcome: "genuine",
  fields: {
    batch: Type.Optional(withDefault(count("How many make a batch", { minimum: 2, maximum: MOST_COPIES }), "2")),
    order: choice(["reverse", "shuffle"], "The order in which they are delivered"),
    hold: Type.Optional(
      withDefault(span("How long to wait for a complete batch before delivering what there is"), "a day"),
    ),
  },
  defaultTimes: ({ batch = 2 }) => batch,
  prepare: ({ batch = 2, order = "reverse", hold }) => ({
    kind: "reorder",
    batch,
    order,
    hold: hold === undefined ? undefined : milliseconds(hold),
  }),
});

const delay = onDeliveries({
  type: "delay",
  phase: "schedule",
  description: "Delivers an event later, after another one, or before the API call that caused it has returned.",
  example: "delay=5s payment.succeeded",
  main: "by",
  outcome: "genuine",
  fields: {
    by: Type.Optional(span("How much later, in sandbox time")),
    until: Type.Optional(
      Type.Unsafe<"before_response" | { after: string }>(
        Type.Union(
          [
            Type.String({ const: "before_response" }),
            Type.Object(
              { after: text("A type of event, such as payout.paid", { minLength: 1 }) },
              { additionalProperties: false },
            ),
          ],
          {
            description:
              "`before_response`, for events that a call to the API causes, or {after: TYPE}: once an event of that " +
              "type is delivered, or after a day",
          },
        ),
      ),
    ),
  },
  check: ({ by, until }) =>
    (by === undefined) === (until === undefined)
      ? "A delay needs either action.by (delay=5s) or action.until (--until)."
      : undefined,
  precedesResponse: ({ until }) => until === "before_response",
  prepare: ({ by, until = "before_response" }) =>
    by === undefined ? { kind: "delay", until } : { kind: "delay", by: milliseconds(by) },
});

const drop = onDeliveries({
  type: "drop",
  phase: "schedule",
  description: "Does not send an attempt, and logs it as dropped. The next attempt follows on the usual schedule.",
  example: "drop=2 payment.succeeded",
  main: "attempts",
  outcome: "altered",
  fields: {
    attempts: Type.Optional(
      Type.Unsafe<number | "all">(
        withDefault(
          Type.Union([count("How many", { minimum: 1 }), Type.String({ const: "all" })], {
            description: "How many attempts of a delivery, or `all`",
          }),
          "1",
        ),
      ),
    ),
  },
  attempts: ({ attempts = 1 }) => (attempts === "all" ? EVERY_ATTEMPT : attempts),
  prepare: () => ({ kind: "drop" }),
});

const signature = onDeliveries({
  type: "signature",
  phase: "content",
  description: "Sends a delivery with a wrong signature.",
  example: "signature=wrong_secret payment.succeeded",
  main: "as",
  outcome: ({ as }) => (as === "previous_secret" ? "previous_secret" : "forged"),
  fields: {
    as: choice<VariantOf<"signature">>(
      ["missing", "wrong_secret", "previous_secret", "body_changed", "reserialised", "malformed"],
      "What is wrong with the signature; `reserialised` signs the same event written in another way",
      "`wrong_secret`",
    ),
  },
  prepare: ({ as = "wrong_secret" }) => ({ kind: "signature", as }),
});

const payload = onDeliveries({
  type: "payload",
  phase: "content",
  description: "Changes the event, and signs it as changed.",
  example: `payload=patch payment.succeeded --patch '{"/data/amount":777}'`,
  main: "as",
  outcome: "altered",
  fields: {
    as: choice<VariantOf<"payload">>(
      ["patch", "truncate", "unknown_type", "extra_field", "evolve", "invalid_json", "reformat"],
      "What is changed; `evolve` is what a later version of the service might send, `reformat` only writes the JSON " +
        "in another way",
      "`extra_field`, or `patch` if one is given",
    ),
    patch: Type.Optional(
      Type.Record(Type.Unknown(), { description: "JSON Pointers into the event, each with its new value" }),
    ),
  },
  onlyWith: { patch: ["as", "patch"] },
  check: ({ as, patch }) => {
    if (as === "patch" && patch === undefined) return `action.patch is required, as in {"/data/amount": 777}.`;
    const wrong = Object.keys(patch ?? {}).find((pointer) => !pointer.startsWith("/"));
    return wrong === undefined
      ? undefined
      : `action.patch takes JSON Pointers such as /data/amount; received ${JSON.stringify(wrong)}.`;
  },
  prepare: ({ patch, as = patch === undefined ? "extra_field" : "patch" }) => ({
    kind: "payload",
    as,
    patch: patch ?? {},
  }),
});

const transport = onDeliveries({
  type: "transport",
  phase: "transport",
  description: "Sends a delivery slowly, with a wrong Content-Type, or only half of it.",
  example: "transport=slow_send payment.succeeded",
  main: "as",
  outcome: "altered",
  fields: {
    as: choice<VariantOf<"transport">>(["slow_send", "wrong_content_type", "abort_mid_body"], "How it is sent"),
  },
  prepare: ({ as = "slow_send" }) => ({ kind: "transport", as }),
});

export const deliveryActions = [duplicate, reorder, delay, drop, signature, payload, transport] as const;
