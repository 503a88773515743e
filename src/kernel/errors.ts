// Every error the sandbox can answer: one table from `code` to status, category and reason. Nothing else maps codes to statuses.

export const errors = {
  invalid_json: { status: 400, error: "invalid_request", when: "The body is not JSON, or not UTF-8." },
  body_not_object: { status: 400, error: "invalid_request", when: "The body is JSON, but not an object at its top level." },
  body_too_deep: { status: 400, error: "invalid_request", when: "The body nests deeper than 32 levels." },
  validation_failed: { status: 400, error: "invalid_request", when: "A known field or query parameter is missing or has the wrong shape." },
  invalid_limit: {
    status: 400,
    error: "invalid_request",
    when: "`limit` is not an integer from 1 to 100. It is never clamped: that would hide a bug.",
  },
  invalid_cursor: { status: 400, error: "invalid_request", when: "A cursor names no record of the caller, or both cursors were sent." },
  invalid_webhook_url: { status: 400, error: "invalid_request", when: "The webhook address is no usable http or https URL." },
  webhook_url_not_local: {
    status: 400,
    error: "invalid_request",
    when: "The webhook address is not on this machine: the sandbox delivers nowhere else.",
  },
  malformed_http: { status: 400, error: "invalid_request", when: "The bytes received are not an HTTP request." },
  idempotency_key_empty: { status: 400, error: "idempotency_error", when: "`Idempotency-Key` was sent without a value." },
  idempotency_key_too_long: { status: 400, error: "idempotency_error", when: "`Idempotency-Key` has more than 255 characters." },
  idempotency_key_invalid: {
    status: 400,
    error: "idempotency_error",
    when: "`Idempotency-Key` was sent more than once, or holds spaces or characters outside printable ASCII.",
  },
  missing_api_key: { status: 401, error: "authentication_error", when: "No `Authorization` header was sent." },
  malformed_authorization: { status: 401, error: "authentication_error", when: "`Authorization` is not one `Bearer <key>`." },
  invalid_api_key: { status: 401, error: "authentication_error", when: "The key is not known to this sandbox, or was revoked." },
  token_expired: { status: 401, error: "authentication_error", when: "The session token from a login has expired." },
  invalid_credentials: {
    status: 401,
    error: "authentication_error",
    when: "A login with an unknown e-mail address or a wrong password; the two are not told apart.",
  },
  live_key_refused: {
    status: 403,
    error: "permission_error",
    when: "A live key was sent. Only its prefix was looked at; it is neither kept nor repeated.",
  },
  merchant_suspended: { status: 403, error: "permission_error", when: "The merchant of this key is suspended." },
  host_not_allowed: {
    status: 403,
    error: "permission_error",
    when: "The `Host` header names another machine: a defence against DNS rebinding.",
  },
  origin_not_allowed: { status: 403, error: "permission_error", when: "A web page of another origin sent the request." },
  control_token_required: {
    status: 403,
    error: "permission_error",
    when: "The control plane of a sandbox that is open to the network wants its token.",
  },
  resource_not_found: {
    status: 404,
    error: "not_found",
    when: "The caller owns no record with this id; another merchant's id looks the same.",
  },
  route_not_found: { status: 404, error: "not_found", when: "No operation has this path." },
  method_not_allowed: {
    status: 405,
    error: "method_not_allowed",
    when: "The path exists, but not with this method; `Allow` names those that do.",
  },
  request_timeout: { status: 408, error: "request_timeout", when: "The request did not arrive whole in time." },
  invalid_state: {
    status: 409,
    error: "conflict",
    when: "The record's present state does not allow the operation; `details` names the states that do.",
  },
  already_exists: { status: 409, error: "conflict", when: "A record with the same unique value exists." },
  verification_failed: {
    status: 409,
    error: "conflict",
    when: "`POST /_sandbox/verify?strict=1` found that not everything is as it was expected to be; `details` has the results.",
  },
  idempotency_key_in_use: {
    status: 409,
    error: "conflict",
    when: "A request with the same `Idempotency-Key` is still running. Only ever injected: the sandbox itself never has two.",
  },
  payload_too_large: { status: 413, error: "payload_too_large", when: "The body is larger than 1 MiB." },
  uri_too_long: { status: 414, error: "uri_too_long", when: "The request target is longer than 2,048 characters." },
  unsupported_media_type: {
    status: 415,
    error: "unsupported_media_type",
    when: "A body was sent that is not declared `application/json`.",
  },
  unsupported_content_encoding: {
    status: 415,
    error: "unsupported_media_type",
    when: "The body is compressed; the sandbox takes it plain.",
  },
  idempotency_key_reused: { status: 422, error: "idempotency_error", when: "The `Idempotency-Key` was used before, for another request." },
  rate_limit_exceeded: { status: 429, error: "rate_limited", when: "The window's requests are used up.", documented: true },
  injected_rate_limit: { status: 429, error: "rate_limited", when: "A fault rule answered instead of the service." },
  headers_too_large: { status: 431, error: "headers_too_large", when: "The request's headers exceed 16 KiB." },
  internal_error: { status: 500, error: "api_error", when: "A defect of the sandbox itself. Everything the request did was undone." },
  injected_error: { status: 500, error: "api_error", when: "A fault rule answered instead of the service." },
  part_not_built: { status: 501, error: "not_built", when: "This version of the sandbox lacks the part that was asked for, and says so." },
  outage: { status: 503, error: "service_unavailable", when: "The service is down for everybody: an injected outage." },
} as const satisfies Record<string, ErrorFacts>;

interface ErrorFacts {
  status: number;
  /** The category, which is the only field of an error that the service's document requires. */
  error: string;
  when: string;
  /** True where the service's document itself states the status; every other row is an assumption. */
  documented?: true;
}

export type ErrorCode = keyof typeof errors;

export interface FieldError {
  pointer: string;
  field: string;
  code: string;
  message: string;
}

export interface ErrorBody {
  error: string;
  message: string;
  code: string;
  details: Record<string, unknown>;
}

/** An answer the real service could give: shown to the client as the service would show it. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly details: Record<string, unknown>;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string, details: Record<string, unknown> = {}, headers: Record<string, string> = {}) {
    super(message);
    this.code = code;
    this.details = details;
    this.headers = headers;
  }

  get status(): number {
    return errors[this.code].status;
  }
}

/** Stops the request with one of the errors above; `message` says what was received and how to mend it. */
export function fail(code: ErrorCode, message: string, details?: Record<string, unknown>, headers?: Record<string, string>): never {
  throw new ApiError(code, message, details, headers);
}

export const exitCodes = { ok: 0, runtime: 1, usage: 2, verdict: 3, inconclusive: 4, portTaken: 5, badFixture: 6 } as const;

/** The tool was misused: one sentence with its remedy, no stack, and an exit code of its own. */
export class SandboxError extends Error {
  readonly exitCode: number;
  /** Where the control plane refused a call: the code it would have answered, and what it would have told beside it. */
  readonly code: ErrorCode | undefined;
  readonly details: Record<string, unknown>;

  constructor(message: string, exit: keyof typeof exitCodes = "runtime", refusal?: Pick<ErrorBody, "details"> & { code: ErrorCode }) {
    super(message);
    this.exitCode = exitCodes[exit];
    this.code = refusal?.code;
    this.details = refusal?.details ?? {};
  }
}

/** What the control plane would answer is a program's or a command's own mistake. */
export const asMisuse = (error: unknown): unknown => (error instanceof ApiError ? new SandboxError(error.message, "usage", error) : error);
