// Every error that the sandbox can return: one table from `code` to status, category and cause. Nothing else maps codes
// to statuses.

import { MAX_BODY, MAX_DEPTH, MAX_HEADERS, MAX_KEY_LENGTH, MAX_TARGET, MAX_VALUES } from "./request-limits.ts";
import { count } from "./text.ts";

/** The errors of one status and category, each with its cause. */
const errorsOf = <const Code extends string>(status: number, error: string, causes: Readonly<Record<Code, string>>) =>
  Object.fromEntries(Object.entries<string>(causes).map(([code, when]) => [code, { status, error, when }])) as Record<
    Code,
    ErrorFacts
  >;

export const errors = {
  ...errorsOf(400, "invalid_request", {
    invalid_json: "The body is not JSON, or not UTF-8.",
    body_not_object: "The body is JSON, but not an object at its top level.",
    body_too_deep: `The body nests deeper than ${MAX_DEPTH} levels.`,
    validation_failed: "A known field or query parameter is missing or has the wrong shape.",
    invalid_limit: "`limit` is not an integer from 1 to 100. It is never clamped, because that would hide a bug.",
    invalid_cursor: "A cursor does not name a record of the caller, or both cursors were sent.",
    invalid_webhook_url: "The webhook URL is not a usable http or https URL.",
    webhook_url_not_local: "The webhook URL does not point to this machine; the sandbox delivers nowhere else.",
    webhook_url_loopback:
      "The webhook URL points to the sandbox's own machine, and the sandbox listens beyond loopback.",
    malformed_http: "The bytes received are not an HTTP request.",
  }),
  ...errorsOf(400, "idempotency_error", {
    idempotency_key_empty: "`Idempotency-Key` was sent without a value.",
    idempotency_key_too_long: `\`Idempotency-Key\` has more than ${MAX_KEY_LENGTH} characters.`,
    idempotency_key_invalid:
      "`Idempotency-Key` was sent more than once, or contains spaces or characters outside printable ASCII.",
  }),
  ...errorsOf(401, "authentication_error", {
    missing_api_key: "No `Authorization` header was sent.",
    malformed_authorization: "`Authorization` is not exactly one `Bearer <key>`.",
    invalid_api_key: "This sandbox does not know the key, or the key was revoked.",
    token_expired: "The session token from a login has expired.",
    invalid_credentials:
      "The e-mail address of a login is unknown or the password is wrong; the response does not say which.",
  }),
  ...errorsOf(403, "permission_error", {
    live_key_refused: "A live key was sent. The sandbox checks only its prefix; it neither stores nor returns the key.",
    merchant_suspended: "The merchant of this key is suspended.",
    test_merchant_refused: "The `baggage` header names a merchant that was not created from the key's own merchant.",
    test_merchant_missing: "With `--isolation strict`, the `baggage` header names no merchant of a test.",
    host_not_allowed: "The `Host` header names another machine. This prevents DNS rebinding.",
    origin_not_allowed: "A web page of another origin sent the request.",
    control_token_required: "The control API requires its control token, which is missing or wrong.",
  }),
  ...errorsOf(404, "not_found", {
    resource_not_found: "The caller owns no record with this id. Another merchant's id gives the same error.",
    route_not_found: "No operation has this path.",
  }),
  method_not_allowed: {
    status: 405,
    error: "method_not_allowed",
    when: "The path exists, but not with this method; `Allow` lists the allowed methods.",
  },
  request_timeout: { status: 408, error: "request_timeout", when: "The request did not arrive completely in time." },
  ...errorsOf(409, "conflict", {
    invalid_state: "The record's current state does not allow the operation; `details` names the states that do.",
    already_exists: "A record with the same unique value exists.",
    verification_failed:
      "`POST /_sandbox/verify?strict=1` found an expectation that is not met; `details` has the results.",
    idempotency_key_in_use:
      "A request with the same `Idempotency-Key` is in progress. Only a fault rule returns this: " +
      "the sandbox never runs two at once.",
  }),
  payload_too_large: {
    status: 413,
    error: "payload_too_large",
    when:
      `The body is larger than ${MAX_BODY / 1_048_576} MiB, or has more than ${count(MAX_VALUES)} fields and ` +
      "elements.",
  },
  uri_too_long: {
    status: 414,
    error: "uri_too_long",
    when: `The request target is longer than ${count(MAX_TARGET)} characters.`,
  },
  ...errorsOf(415, "unsupported_media_type", {
    unsupported_media_type: "A body was sent whose `Content-Type` is not `application/json`.",
    unsupported_content_encoding: "The body is compressed; the sandbox accepts only uncompressed bodies.",
  }),
  expectation_failed: {
    status: 417,
    error: "expectation_failed",
    when: "`Expect` asks for anything other than `100-continue`.",
  },
  idempotency_key_reused: {
    status: 422,
    error: "idempotency_error",
    when: "The `Idempotency-Key` was already used for a different request.",
  },
  rate_limit_exceeded: {
    status: 429,
    error: "rate_limited",
    when: "The request limit of the current window is reached.",
    documented: true,
  },
  injected_rate_limit: { status: 429, error: "rate_limited", when: "A fault rule returned this error." },
  headers_too_large: {
    status: 431,
    error: "headers_too_large",
    when: `The request's headers exceed ${MAX_HEADERS / 1_024} KiB.`,
  },
  ...errorsOf(500, "api_error", {
    internal_error: "A bug in the sandbox. All effects of the request were rolled back.",
    injected_error: "A fault rule returned this error.",
  }),
  part_not_built: {
    status: 501,
    error: "not_built",
    when: "This version of the sandbox does not implement the requested part.",
  },
  ...errorsOf(503, "service_unavailable", {
    database_damaged: "The SQLite file holds a record that another program wrote and that is invalid.",
    database_missing: "The SQLite file was deleted or replaced while the sandbox was running.",
    outage: "An injected outage: the service is down for all callers.",
    sandbox_unavailable:
      "The sandbox is closing, too many clients wait for it at once, or too many deliveries are pending.",
  }),
};

interface ErrorFacts {
  status: number;
  /** The category: the only field of an error that the service's document requires. */
  error: string;
  when: string;
  /** True where the service's document states the status; every other row is an assumption. */
  documented?: true;
}

export type ErrorCode = keyof typeof errors;

/** Whether a response reports a rate limit. */
export const isRateLimit = (status: number, code: string | undefined) =>
  status === errors.rate_limit_exceeded.status || code === "rate_limit_exceeded" || code === "injected_rate_limit";

export interface FieldError {
  pointer: string;
  field: string;
  code: string;
  message: string;
}

const MOST_NAMES = 10;

/**
 * One message for all errors: lists the missing fields, explains the first other error, and names the fields of the
 * rest.
 */
export function errorSummary(errors: readonly FieldError[]): string {
  const missing = errors.filter(({ code }) => code === "required");
  const [wrong, ...rest] = errors.filter(({ code }) => code !== "required");
  const others = rest.filter(({ field }) => field !== wrong?.field);
  const required = missing.length > 1 ? `Required: ${fieldNames(missing)}.` : missing[0]?.message;
  const sentences = [required, wrong?.message, others.length > 0 ? `Also invalid: ${fieldNames(others)}.` : undefined];
  return sentences.filter((sentence) => sentence !== undefined).join(" ");
}

function fieldNames(errors: readonly FieldError[]): string {
  const names = [...new Set(errors.map(({ field }) => field))];
  const omitted = names.length - MOST_NAMES;
  return omitted > 0 ? `${names.slice(0, MOST_NAMES).join(", ")} and ${omitted} others` : names.join(", ");
}

export interface ErrorBody {
  error: string;
  message: string;
  code: string;
  details: Record<string, unknown>;
}

/** An error that the real service could return, sent to the client in its format. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly details: Record<string, unknown>;
  readonly headers: Record<string, string>;

  constructor(
    code: ErrorCode,
    message: string,
    details: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ) {
    super(message);
    this.code = code;
    this.details = details;
    this.headers = headers;
  }

  get status(): number {
    return errors[this.code].status;
  }
}

/** Fails the request with one of the errors above; `message` says what was received and how to fix it. */
export function fail(
  code: ErrorCode,
  message: string,
  details?: Record<string, unknown>,
  headers?: Record<string, string>,
): never {
  throw new ApiError(code, message, details, headers);
}

export const exitCodes = {
  ok: 0,
  runtime: 1,
  usage: 2,
  verdict: 3,
  inconclusive: 4,
  portInUse: 5,
  badFixture: 6,
  unsupportedNode: 7,
} as const;

/** The exit codes of commands that end with a verdict. */
export const verdictExits = { pass: exitCodes.ok, fail: exitCodes.verdict, inconclusive: exitCodes.inconclusive };

export const exitMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: "success",
  runtime: "failure",
  usage: "usage error",
  verdict: "a check failed",
  inconclusive: "inconclusive",
  portInUse: "port in use",
  badFixture: "invalid input file",
  unsupportedNode: "unsupported Node",
};

/**
 * Why no sandbox can start: this Node is too old for better-sqlite3, or the native addon is missing. The service never
 * returns these.
 */
export type InstallationErrorCode = "unsupported_node" | "addon_not_loaded";

interface SandboxErrorCause {
  code: ErrorCode | InstallationErrorCode | undefined;
  details?: Record<string, unknown>;
}

/** Misuse of the tool: shown as one sentence with the remedy, without a stack, and with its own exit code. */
export class SandboxError extends Error {
  readonly exitCode: number;
  /** The code of the control API's error, or why no sandbox can start. */
  readonly code: ErrorCode | InstallationErrorCode | undefined;
  readonly details: Record<string, unknown>;

  constructor(message: string, exit: keyof typeof exitCodes = "runtime", cause?: SandboxErrorCause) {
    super(message);
    this.exitCode = exitCodes[exit];
    this.code = cause?.code;
    this.details = cause?.details ?? {};
  }
}

/** An error as it is printed: the message if that says what to do, otherwise the stack, which a bug report needs. */
export const errorText = (error: unknown) =>
  error instanceof SandboxError ? error.message : String((error as Error)?.stack ?? error);

/**
 * Removes this package's frames from the stack of a misuse. When an error is not caught, Node prints the source line of
 * the first frame: now the caller's line, not a line of the bundle. Call in the public function `below`, whose frame is
 * removed too.
 */
export function atCaller(error: unknown, below: (...input: never[]) => unknown): unknown {
  if (error instanceof SandboxError) Error.captureStackTrace(error, below);
  return error;
}

/** Misuse of a command, with exit code 2. */
export function usageError(message: string): never {
  throw new SandboxError(message, "usage");
}

/** Turns an error of the control API into a SandboxError, for programs and commands that call it. */
export const asMisuse = (error: unknown): unknown =>
  error instanceof ApiError ? new SandboxError(error.message, "usage", error) : error;
