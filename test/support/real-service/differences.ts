// Ways in which the stand-in can differ from the sandbox, with the facts that each difference contradicts. Tests switch
// on one difference, or several.

import { createHmac } from "node:crypto";
import type { Behaviour } from "./behaviour.ts";
import type { Stored } from "./records.ts";

export interface Difference {
  name: string;
  change(behaviour: Behaviour): unknown;
  /** The ids of the facts that a recording with this difference contradicts. */
  contradicts: readonly string[];
}

/** Changes the records of one kind. Records of other kinds stay the same. */
const changeRecords = (behaviour: Behaviour, kind: string, change: (record: Stored) => Stored) => {
  const { record } = behaviour;
  behaviour.record = (one, of) => (of === kind ? change(record(one, of)) : record(one, of));
};

const withField = (kind: string, name: string, value: (record: Stored) => unknown) => (behaviour: Behaviour) =>
  changeRecords(behaviour, kind, (record) => ({ ...record, [name]: value(record) }));

const without = (kind: string, name: string) => (behaviour: Behaviour) =>
  changeRecords(behaviour, kind, ({ [name]: _, ...rest }) => rest);

const renamed = (kind: string, from: string, to: string) => (behaviour: Behaviour) =>
  changeRecords(behaviour, kind, ({ [from]: value, ...rest }) => ({ ...rest, [to]: value }));

type ErrorParts = Partial<Record<"status" | "error" | "code", string | number>>;

/** Changes the status, the category or the code of an error. */
const error = (name: string, condition: keyof Behaviour["errors"], parts: ErrorParts): Difference => ({
  name,
  change: ({ errors }) => Object.assign(errors[condition], parts),
  contradicts: Object.keys(parts).map((part) => `error.${condition}.${part === "error" ? "category" : part}`),
});

/** Lists the invalid fields of a body in a different form or place. */
const listing =
  (write: (errors: Stored[], details: Stored) => Stored): Difference["change"] =>
  (behaviour) => {
    const { error: before } = behaviour;
    behaviour.error = (body) => {
      const { errors, ...details } = body.details as Stored;
      return before(!Array.isArray(errors) ? body : { ...body, details, ...write(errors as Stored[], details) });
    };
  };

const byField = (errors: readonly Stored[], write: (message: unknown) => unknown) =>
  Object.fromEntries(errors.map(({ field, message }) => [field, write(message)]));

const prefixed = (record: Stored, from: string, to: string): Stored => ({
  ...record,
  id: String(record.id).replace(`${from}_`, `${to}_`),
});

export const differences: readonly Difference[] = [
  // Statuses of successes
  {
    name: "a pricing rule is created with 201",
    change: (to) => (to.success["pricing_rules.create"] = 201),
    contradicts: ["pricing_rules.create.status"],
  },
  {
    name: "an endpoint is created with 200",
    change: (to) => (to.success["webhooks.create"] = 200),
    contradicts: ["webhooks.create.status"],
  },
  {
    name: "declining a booking returns 202",
    change: (to) => (to.success["bookings.decline"] = 202),
    contradicts: ["bookings.decline.status"],
  },
  // Errors
  error("a validation error has another status, category and code", "validation_failed", {
    status: 422,
    error: "bad_input",
    code: "params_invalid",
  }),
  error("an unknown id has another status, category and code", "resource_not_found", {
    status: 410,
    error: "unknown_resource",
    code: "missing",
  }),
  error("a call without a key returns 403", "missing_api_key", { status: 403, code: "no_token" }),
  error("a second decline returns 400", "invalid_state", { status: 400, code: "not_pending" }),
  error("a limit out of bounds returns 422", "invalid_limit", { status: 422, code: "bad_limit" }),
  error("a reused key returns 409", "idempotency_key_reused", { status: 409, code: "key_conflict" }),
  error("too many requests have another code", "rate_limit_exceeded", { code: "slow_down" }),
  error("a wrong password returns 400", "invalid_credentials", { status: 400, code: "invalid_grant" }),
  error("an expired token has another code", "token_expired", { error: "session_error", code: "session_over" }),
  error("a key in use returns 425", "idempotency_key_in_use", { status: 425, code: "in_progress" }),
  error("a URL with a wrong scheme returns 422", "invalid_webhook_url", { status: 422 }),
  error("a wrong method returns 404", "method_not_allowed", { status: 404, error: "not_found", code: "no_such_route" }),
  error("an unknown path has another code", "route_not_found", { code: "no_such_route" }),
  {
    name: "invalid fields have RFC 9457 pointers",
    change: listing((errors, details) => ({
      details: {
        ...details,
        errors: errors.map(({ field: _, pointer, ...one }) => ({ ...one, pointer: `#${pointer}` })),
      },
    })),
    contradicts: ["error.invalid_fields"],
  },
  {
    name: "messages are listed by field, beside the code",
    change: listing((errors) => ({ errors: byField(errors, (message) => [message]) })),
    contradicts: ["error.invalid_fields"],
  },
  {
    name: "details have a message for each field",
    change: listing((errors, details) => ({ details: { ...details, errors: byField(errors, (message) => message) } })),
    contradicts: ["error.invalid_fields"],
  },
  {
    name: "errors do not name the request",
    change(to) {
      const { error: before } = to;
      to.error = (body) => {
        const { details, ...rest } = before(body);
        const { requestId: _, ...kept } = details as Stored;
        return { ...rest, details: kept };
      };
    },
    contradicts: ["error.details.requestId"],
  },
  {
    name: "errors are wrapped",
    change(to) {
      const { error: before } = to;
      to.error = (body) => ({ errors: [before(body)] });
    },
    contradicts: ["error.envelope"],
  },
  // Lists
  {
    name: "a page of payouts has 10 records",
    change: (to) => (to.lists.payouts.default = 10),
    contradicts: ["payouts.list.query.limit.default"],
  },
  {
    name: "payouts take a limit of at most 50",
    change: (to) => (to.lists.payouts.maximum = 50),
    contradicts: ["payouts.list.query.limit.maximum"],
  },
  {
    name: "a page of payments has 10 records",
    change: (to) => (to.lists.payments.default = 10),
    contradicts: ["payments.list.query.limit.default"],
  },
  {
    name: "a limit out of bounds is replaced by the nearest bound",
    change: (to) => (to.lists.payments.clamps = true),
    contradicts: ["error.invalid_limit.status"],
  },
  {
    name: "the cursor parameter is named after",
    change: (to) => (to.lists.cursor = "after"),
    contradicts: ["payments.list.query.other_parameters"],
  },
  {
    name: "lists begin with the oldest record",
    change: (to) => (to.lists.newestFirst = false),
    contradicts: ["payments.list.order"],
  },
  {
    name: "lists have their records in items",
    change: (to) => (to.lists.data = "items"),
    contradicts: ["payments.list.reply.envelope"],
  },
  {
    name: "a customer is wrapped in data",
    change: (to) => (to.reply = (body, operation) => (operation === "customers.get" ? { data: body } : body)),
    contradicts: ["customers.get.reply.envelope"],
  },
  {
    name: "a declined booking is wrapped in booking",
    change: (to) => (to.reply = (body, operation) => (operation === "bookings.decline" ? { booking: body } : body)),
    contradicts: ["bookings.decline.reply.envelope"],
  },
  // Records
  {
    name: "ids of payments begin with pmt_",
    change(to) {
      changeRecords(to, "payments", (one) => prefixed(one, "pay", "pmt"));
      changeRecords(to, "payouts", (one) => JSON.parse(JSON.stringify(one).replaceAll("pay_", "pmt_")));
    },
    contradicts: ["payment.id.prefix"],
  },
  {
    name: "ids of pricing rules begin with rule_",
    change: (to) => changeRecords(to, "rules", (one) => prefixed(one, "prl", "rule")),
    contradicts: ["pricing_rule.id.prefix"],
  },
  { name: "payments have no fee", change: without("payments", "fee"), contradicts: ["payment.fee"] },
  {
    name: "bookings have no decline reason",
    change: without("bookings", "declineReason"),
    contradicts: ["booking.declineReason"],
  },
  {
    name: "payments have a risk score",
    change: withField("payments", "riskScore", () => 12),
    contradicts: ["payment.other_fields"],
  },
  {
    name: "customerId of a payment is named customer",
    change: renamed("payments", "customerId", "customer"),
    contradicts: ["payment.customerId", "payment.other_fields"],
  },
  {
    name: "the status refunded is named reversed",
    change: withField("payments", "status", ({ status }) => (status === "refunded" ? "reversed" : status)),
    contradicts: ["payment.status.values"],
  },
  {
    name: "amounts are strings",
    change: withField("payments", "amount", ({ amount }) => String(amount)),
    contradicts: ["payment.amount.type"],
  },
  {
    name: "amounts are in whole units",
    change: withField("payouts", "amount", ({ amount }) => Number(amount) / 100),
    contradicts: ["payout.amount.type", "payout.amount.format"],
  },
  {
    name: "times are ISO strings",
    change: withField("payouts", "created", ({ created }) => new Date(Number(created) * 1_000).toISOString()),
    contradicts: ["payout.created.type", "payout.created.format"],
  },
  {
    name: "times are milliseconds",
    change: withField("bookings", "created", ({ created }) => Number(created) * 1_000),
    contradicts: ["booking.created.format"],
  },
  {
    name: "currencies are in lower case",
    change: withField("payments", "currency", ({ currency }) => String(currency).toLowerCase()),
    contradicts: ["payment.currency.format"],
  },
  {
    name: "customers have no name",
    change: withField("customers", "name", () => null),
    contradicts: ["customer.name.type"],
  },
  // Bodies
  {
    name: "a priority is required",
    change: (to) => to.pricingRule.required.push("priority"),
    contradicts: ["pricing_rules.create.body.priority.required"],
  },
  {
    name: "adjustmentValue is optional",
    change: (to) => (to.pricingRule.required = to.pricingRule.required.filter((field) => field !== "adjustmentValue")),
    contradicts: ["pricing_rules.create.body.adjustmentValue.required"],
  },
  {
    name: "unknown fields are refused",
    change: (to) => (to.pricingRule.takesUnknownFields = false),
    contradicts: ["pricing_rules.create.body.other_fields"],
  },
  // Limits
  { name: "a window allows 100 requests", change: (to) => (to.rate.limit = 100), contradicts: ["rate_limit.limit"] },
  { name: "windows last an hour", change: (to) => (to.rate.seconds = 3_600), contradicts: ["rate_limit.seconds"] },
  {
    name: "Retry-After is missing",
    change: (to) => (to.rate.retryAfter = () => undefined),
    contradicts: ["header.Retry-After"],
  },
  {
    name: "Retry-After is always 45",
    change: (to) => (to.rate.retryAfter = () => "45"),
    contradicts: ["rate_limit.retry_after"],
  },
  {
    name: "Retry-After is a date",
    change: (to) => (to.rate.retryAfter = (wait, now) => new Date(now + wait * 1_000).toUTCString()),
    contradicts: ["header.Retry-After.format"],
  },
  {
    name: "RateLimit-Reset counts seconds",
    change: (to) => (to.rate.reset = (end, now) => String(end - now)),
    contradicts: ["header.RateLimit-Reset.format"],
  },
  // Idempotency
  {
    name: "the Idempotency-Key has another header",
    change: (to) => (to.idempotency.header = "X-Request-Key"),
    contradicts: ["idempotency.header"],
  },
  {
    name: "a repeated key is refused",
    change: (to) => (to.idempotency.replays = "refused"),
    contradicts: ["idempotency.replay"],
  },
  {
    name: "a repeated key has a second effect",
    change: (to) => (to.idempotency.replays = "no"),
    contradicts: ["idempotency.replay"],
  },
  {
    name: "keys are forgotten after an hour",
    change: (to) => (to.idempotency.window = 3_600),
    contradicts: ["idempotency.seconds"],
  },
  { name: "a replay is not marked", change: (to) => (to.replayed = {}), contradicts: ["header.Idempotent-Replayed"] },
  {
    name: "a replay is marked by another header",
    change: (to) => (to.replayed = { "x-idempotency-replay": "true" }),
    contradicts: ["header.Idempotent-Replayed"],
  },
  // Events
  {
    name: "booking.declined is named booking.rejected",
    change: (to) => (to.events.names["booking.declined"] = "booking.rejected"),
    contradicts: ["event.type.values"],
  },
  {
    name: "events have no merchant",
    change: (to) => (to.events.envelope = ({ merchantId: _, ...rest }) => rest),
    contradicts: ["event.merchantId"],
  },
  {
    name: "events have an API version",
    change: (to) => (to.events.envelope = (event) => ({ ...event, apiVersion: "v1" })),
    contradicts: ["event.other_fields"],
  },
  {
    name: "the signature has another key",
    change: (to) =>
      (to.deliveries.sign = (body, secret) =>
        createHmac("sha256", secret.replace("whsec_", "")).update(body).digest("hex")),
    contradicts: ["webhook.signature.key"],
  },
  {
    name: "the event type has another header",
    change: (to) => (to.deliveries.headers.event = "x-event-type"),
    contradicts: ["webhook.header.X-Webhook-Event"],
  },
  {
    name: "the first retry comes after ten seconds",
    change: (to) => (to.deliveries.schedule[0] = 10),
    contradicts: ["retry.schedule"],
  },
  {
    name: "there are two retries",
    change: (to) => (to.deliveries.schedule = [1, 5]),
    contradicts: ["retry.schedule"],
  },
  {
    name: "secrets begin with secret_",
    change: (to) => (to.secretPrefix = "secret"),
    contradicts: ["webhooks.create.reply.secret.prefix"],
  },
];
