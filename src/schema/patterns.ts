// Patterns of texts, each with the requirement in words for error messages.

import { DURATION_PATTERN } from "../kernel/duration.ts";

const EVENT_TYPE = "[a-z0-9_]+(\\.[a-z0-9_]+)+";

export const PATTERNS = {
  currency: {
    pattern: "^[A-Z]{3}$",
    must: "must be an ISO 4217 code of three capital letters, such as EUR",
  },
  country: {
    pattern: "^[A-Z]{2}$",
    must: "must be an ISO 3166-1 code of two capital letters, such as PT",
  },
  month: {
    pattern: "^[0-9]{4}-(0[1-9]|1[0-2])$",
    must: "must be a month, YYYY-MM",
  },
  /** Simpler than RFC 5322: accepts any text with one @ and a dot after it, in any script. */
  email: {
    pattern: "^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$",
    must: "must be an e-mail address",
  },
  duration: {
    pattern: DURATION_PATTERN,
    must: "must be a duration such as 600ms, 30s or 24h",
  },
  eventType: {
    pattern: `^${EVENT_TYPE}$`,
    must: "must be an event type such as payment.succeeded",
  },
  subscribedEvent: {
    pattern: `^(\\*|${EVENT_TYPE})$`,
    must:
      "must be an event type such as payment.succeeded, or * for all; " +
      "patterns such as payment.* are expanded only by merchant-sandbox listen and receive, merchant-sandbox.json " +
      "and PUT /_sandbox/endpoints",
  },
  /** Any type that a test event may have, `payment.*` or `*`. */
  matchedEvent: {
    pattern: "^(\\*|[a-z0-9_]+(\\.[a-z0-9_]+)*\\.(\\*|[a-z0-9_]+))$",
    must: "must be an event type such as payment.succeeded, a pattern such as payment.*, or *",
  },
  status: {
    pattern: "^[1-5]([0-9]{2}|xx)$",
    must: "must be a status such as 429, or a class such as 4xx",
  },
  testKey: {
    pattern: "^sk_test_(?!session_)[\\w.~+/=-]+$",
    must: "must be sk_test_ and a name of your own, such as sk_test_shop",
  },
  webhookSecret: {
    pattern: "^whsec_[\\w+/=-]{1,249}$",
    must: "must be whsec_ followed by letters, digits or _ + / = - of your own",
  },
  traceId: {
    pattern: "^[0-9A-Fa-f]{32}$",
    must: "must be a trace id of 32 hex digits",
  },
  accountNumber: {
    pattern: "^\\+?([ -]?[0-9A-Za-z]){5,34}$",
    must: "must be 5 to 34 letters and digits, with spaces or dashes between them",
  },
} as const;

const requirements = new Map<string, string>(Object.values(PATTERNS).map(({ pattern, must }) => [pattern, must]));

/** The requirement of a pattern, for an error message. */
export const patternRequirement = (pattern: string): string => requirements.get(pattern) ?? `must match ${pattern}`;
