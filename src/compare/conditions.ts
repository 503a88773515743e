// Recognises the condition of an error from the request and the calls before it, never from the error code of the
// response. The rules are tried in the order of the sandbox's pipeline. The first rule that applies names the
// condition.

import { type ErrorCode, errors, type FieldError } from "../kernel/errors.ts";
import { isObject } from "../kernel/json-object.ts";
import { KEY_PATTERN, MAX_KEY_LENGTH } from "../kernel/request-limits.ts";
import { valueAt } from "../schema/json-pointer.ts";
import { fieldErrors } from "../schema/validator.ts";
import { answerOf, type CallContext, isAction, isReplayable, sameRequest } from "./history.ts";
import { refused } from "./recording.ts";
import { isMasked } from "./shown-texts.ts";

interface ConditionRule {
  /** The rule in words. */
  when: string;
  applies(context: CallContext): boolean;
}

const KEY = new RegExp(KEY_PATTERN);

const bodyIsShown = ({ call }: CallContext) => call.text !== undefined && !isMasked(call.text);

const tokenOf = ({ headers }: CallContext["call"]) => /^bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1] ?? "";

const conditions: Partial<Record<ErrorCode, ConditionRule>> = {
  missing_api_key: {
    when: "The call has no Authorization header, and other calls of the recording have one.",
    applies: ({ call, knowledge }) => knowledge.showsAuthorization && call.headers.authorization === undefined,
  },
  malformed_authorization: {
    when: "Authorization is not `Bearer` and one word.",
    applies: ({ call: { headers } }) =>
      headers.authorization !== undefined &&
      !isMasked(headers.authorization) &&
      !/^bearer +\S+ *$/i.test(headers.authorization),
  },
  token_expired: {
    when: "The key is a token that a login of the recording returned, and its lifetime is over.",
    applies: ({ call, knowledge }) => call.at > (knowledge.tokens.get(tokenOf(call)) ?? Number.POSITIVE_INFINITY),
  },
  invalid_api_key: {
    when: "No call with this key succeeds, but a call of the same operation with another key does.",
    applies: ({ call, history }) =>
      refused(call) &&
      call.headers.authorization !== undefined &&
      !isMasked(call.headers.authorization) &&
      !history.hasSuccess(call.headers.authorization) &&
      history.isUsed(call.operation),
  },
  rate_limit_exceeded: {
    when: "The response is 429, the only error status that the service's document states.",
    applies: ({ call }) => call.status === 429,
  },
  unsupported_media_type: {
    when: "The Content-Type of a body is not application/json.",
    applies: ({ call: { headers, text } }) =>
      text !== undefined &&
      headers["content-type"] !== undefined &&
      !/^application\/json\b/i.test(headers["content-type"]),
  },
  invalid_json: {
    when: "The body is not JSON, and the recording has all of it.",
    applies: (context) =>
      bodyIsShown(context) &&
      context.call.body === undefined &&
      Buffer.byteLength(context.call.text ?? "") === context.call.bytes,
  },
  body_not_object: {
    when: "The body is JSON, but not an object.",
    applies: (context) => bodyIsShown(context) && context.call.body !== undefined && !isObject(context.call.body),
  },
  idempotency_key_empty: {
    when: "The idempotency key is empty.",
    applies: ({ call, key }) => call.operation.idempotent && key === "",
  },
  idempotency_key_too_long: {
    when: errors.idempotency_key_too_long.when,
    applies: ({ call, key = "" }) => call.operation.idempotent && key.length > MAX_KEY_LENGTH,
  },
  idempotency_key_invalid: {
    when: "The idempotency key has a space or a character outside printable ASCII.",
    applies: ({ call, key = "" }) => call.operation.idempotent && key !== "" && !isMasked(key) && !KEY.test(key),
  },
  idempotency_key_reused: {
    when: "An earlier call within the replay window has the same key, and another method, path, query or body.",
    applies: ({ call, first }) =>
      first !== undefined && isReplayable(first, call) && sameRequest(first, call) === false,
  },
  idempotency_key_in_use: {
    when: "A call with the same key and the same content had no response yet, and this one is refused.",
    applies: ({ call, running }) => running !== undefined && refused(call) && sameRequest(running, call) === true,
  },
  invalid_limit: {
    when: "`limit` is not an integer, or is outside its bounds.",
    applies: ({ call: { operation, url } }) => {
      const bounds = operation.query.properties.limit as { minimum?: number; maximum?: number } | undefined;
      const limit = url.searchParams.get("limit");
      if (!bounds || limit === null) return false;
      const asked = /^-?\d{1,15}$/.test(limit) ? Number(limit) : Number.NaN;
      return !(asked >= (bounds.minimum ?? 0) && asked <= (bounds.maximum ?? Number.POSITIVE_INFINITY));
    },
  },
  invalid_cursor: {
    when: "Both cursors are sent, or a cursor is refused that is not the id of any record in the recording.",
    applies: ({ call, knowledge }) => {
      const [after, before] = ["starting_after", "ending_before"].map((name) => call.url.searchParams.get(name));
      if (!call.operation.query.properties.starting_after) return false;
      if (after != null && before != null) return true;
      const cursor = after ?? before;
      return cursor != null && refused(call) && !knowledge.ids.has(cursor);
    },
  },
  invalid_webhook_url: {
    when: "The URL of a webhook endpoint is invalid, or its scheme is not http or https, and the call is refused.",
    applies: ({ call }) => {
      if (!call.operation.errors.includes("invalid_webhook_url") || !refused(call) || !isObject(call.body))
        return false;
      const { url } = call.body;
      return (
        typeof url === "string" && !isMasked(url) && !(URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))
      );
    },
  },
  invalid_credentials: {
    when: "A login with an e-mail address and a password is refused, and other calls with its key succeed.",
    applies: ({ call, history, problems }) =>
      call.operation.errors.includes("invalid_credentials") &&
      refused(call) &&
      isObject(call.body) &&
      problems.length === 0 &&
      history.hasSuccess(call.headers.authorization),
  },
  validation_failed: {
    when: "A field of the body or a parameter is missing or has the wrong shape, and the call is refused.",
    applies: ({ call, problems, knowledge }) =>
      problems.length > 0 && refused(call) && call.ids.every((id) => knowledge.ids.has(id)),
  },
  invalid_state: {
    when:
      "An action on a record (POST to a path with the record's id) succeeded before, and is sent again without the " +
      "same Idempotency-Key. An action that never succeeded counts too if it got the status and code of such a " +
      "repetition, unless the status is 404 or 410.",
    applies: ({ call, history, problems }) => {
      if (!isAction(call) || history.isRepeatedAction(call)) return isAction(call);
      const repeated = refused(call) && problems.length === 0 ? history.refusedRepeat(call.operation) : undefined;
      return repeated !== undefined && !isGone(call) && answerOf(repeated) === answerOf(call);
    },
  },
  resource_not_found: {
    when:
      "A refused call has a valid body, and an id that is in no response of the recording. For an action, one of two " +
      "more conditions holds: its status and code are those of other calls with unknown ids; or its status is 404 or " +
      "410, and a repeated action is refused differently.",
    applies: (context) => {
      const { call, knowledge, history, problems } = context;
      if (!refused(call) || problems.length > 0 || !call.ids.some((id) => !knowledge.ids.has(id))) return false;
      const repeated = history.refusedRepeat(call.operation);
      return (
        history.isOfUnknownId(call) ||
        (isGone(call) && (repeated === undefined || answerOf(repeated) !== answerOf(call)))
      );
    },
  },
  already_exists: {
    when: "A record is created with the unique values of a record that was created before.",
    applies: ({ call, history }) => history.isCreatedBefore(call),
  },
};

/** The conditions of calls that match no operation, in words; `observeRoutes` recognises them. */
const ofRoutes = {
  method_not_allowed: "An operation has the path, but not the method, and each such call is refused in the same way.",
  route_not_found: "No operation has the path, which contains no id, and each call of it is refused in the same way.",
} satisfies Partial<Record<ErrorCode, string>>;

const OWN_LIMIT = "The sandbox assumes the limit; the service's own is unknown.";

/** Why a recording cannot show the condition of an error. Errors that only the sandbox has are left out. */
const unseen: Partial<Record<ErrorCode, string>> = {
  uri_too_long: OWN_LIMIT,
  headers_too_large: OWN_LIMIT,
  payload_too_large: OWN_LIMIT,
  body_too_deep: OWN_LIMIT,
  expectation_failed: "Clients and proxies send no other `Expect` than `100-continue`.",
  unsupported_content_encoding: "Recordings hold bodies as text, without their encoding.",
  merchant_suspended: "No call of the API suspends a merchant.",
  malformed_http: "A recording has only requests that could be read.",
  request_timeout: "A recording does not say how slowly a request arrived.",
  internal_error: "Responses with 5xx are left out: another call with the same content may succeed.",
  database_damaged: "Responses with 5xx are left out: another call with the same content may succeed.",
  outage: "Responses with 5xx are left out: another call with the same content may succeed.",
};

/** The rules in words, and the reasons why errors have no rule, by error code. */
export const conditionTexts = (): { seen: Record<string, string>; unseen: Record<string, string> } => ({
  seen: { ...Object.fromEntries(Object.entries(conditions).map(([code, { when }]) => [code, when])), ...ofRoutes },
  unseen,
});

const isGone = ({ status }: CallContext["call"]) => status === 404 || status === 410;

const CALLER: readonly ErrorCode[] = [
  "missing_api_key",
  "malformed_authorization",
  "token_expired",
  "invalid_api_key",
  "invalid_credentials",
];
const ACCOUNT: readonly unknown[] = [
  "merchant_suspended",
  "live_key_refused",
  "host_not_allowed",
  "origin_not_allowed",
];

/** Rejected during authentication, before other checks. */
const isAboutTheCaller = ({ status, response }: CallContext["call"]) =>
  status === 401 || (status === 403 && isObject(response) && ACCOUNT.includes(response.code));

/** The condition of a call; undefined if the call meets none, or replays an earlier call with the same key. */
export function conditionOf(context: CallContext): ErrorCode | undefined {
  const { call, first } = context;
  const entries = Object.entries(conditions) as [ErrorCode, ConditionRule][];
  const found = entries.find(([, rule]) => rule.applies(context))?.[0];
  if (found !== undefined && !CALLER.includes(found) && isAboutTheCaller(call)) return undefined;
  const isReplay = first !== undefined && isReplayable(first, call) && sameRequest(first, call) === true;
  return isReplay && (found === "invalid_state" || found === "already_exists") ? undefined : found;
}

/** The errors that the sandbox's schema finds in a call's body; empty if the recording does not show the body. */
export function bodyProblems({ operation, body }: CallContext["call"]): FieldError[] {
  if (!operation.body || !isObject(body)) return [];
  return fieldErrors(operation.body, body).filter(({ pointer }) => !isMasked(valueAt(body, pointer)));
}
