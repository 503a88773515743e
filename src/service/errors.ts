// Errors as the real service sends them: status, category and code of each condition, and the names of parameters.

import { type ErrorBody, type ErrorCode, errors, type FieldError } from "../kernel/errors.ts";
import type { Operation } from "../store/operation-context.ts";
import type { AdoptedFacts } from "./adopted-facts.ts";

/** A reply before it is sent. */
export interface EdgeReply {
  status: number;
  body: string;
}

/** The call of a reply. */
export interface CallAtEdge {
  readonly id: string;
  readonly operation: Operation | undefined;
  readonly replayOf: string | undefined;
  readonly headers: Record<string, string>;
}

export interface AdoptedError {
  status: number;
  error: string;
  code: string;
}

/** The status, category and code of a condition, for one operation. */
export function adoptedError(facts: AdoptedFacts, code: ErrorCode, operation?: string): AdoptedError {
  const { status, error } = errors[code];
  const adopted = facts.number(`error.${code}.status`, operation) ?? status;
  return {
    // 200 says that a limit out of bounds is moved into them; a limit that is no number is refused all the same.
    status: adopted < 400 ? status : adopted,
    error: facts.text(`error.${code}.category`, operation) ?? error,
    code: facts.text(`error.${code}.code`, operation) ?? code,
  };
}

/** Rewrites error replies that have the sandbox's own codes; others, such as those of a fault with a code of its own, stay as they are. */
export function createErrorReply(
  facts: AdoptedFacts,
  shape: (error: object) => unknown,
): (operation: Operation | undefined, reply: EdgeReply) => EdgeReply {
  return (operation, reply) => {
    const own = ownError(reply);
    if (!own) return reply;
    const { status, error, code } = adoptedError(facts, own.code, operation?.id);
    return {
      status,
      body: JSON.stringify(shape({ ...withFieldNames(withNames(own, operation?.renamed), operation?.renamedFields), error, code })),
    };
  };
}

/** The response to a second call with a key, from a service that keeps keys but no responses. */
export function refusedReplay(
  facts: AdoptedFacts,
  shape: (error: object) => unknown,
  { id, operation, replayOf, headers }: CallAtEdge,
  status: number,
): EdgeReply {
  delete headers["Idempotent-Replayed"];
  const { error, code } = adoptedError(facts, "idempotency_key_reused", operation?.id);
  const message = "This idempotency key was used before. The service refuses it, and does not repeat the first response.";
  return { status, body: JSON.stringify(shape({ error, message, code, details: { firstRequestId: replayOf, requestId: id } })) };
}

interface OwnError extends ErrorBody {
  code: ErrorCode;
}

function ownError({ status, body }: EdgeReply): OwnError | undefined {
  if (!body.startsWith("{")) return undefined;
  const parsed = JSON.parse(body) as OwnError;
  return Object.hasOwn(errors, parsed.code) && errors[parsed.code].status === status ? parsed : undefined;
}

/** The stages after the validation know parameters by the sandbox's names. */
function withNames(error: OwnError, names: Operation["renamed"]): OwnError {
  const { field, fields } = error.details;
  if (names === undefined || names.size === 0 || (field === undefined && fields === undefined)) return error;
  const shown = (name: unknown) => names.get(String(name)) ?? name;
  return {
    ...error,
    message: error.message.replace(/\w+/g, (word) => names.get(word) ?? word),
    details: { ...error.details, ...(field === undefined ? { fields: (fields as unknown[]).map(shown) } : { field: shown(field) }) },
  };
}

/** Handlers know the fields of a body by the sandbox's names. */
function withFieldNames(error: OwnError, names: Operation["renamedFields"]): OwnError {
  const { errors: found } = error.details;
  if (names === undefined || !Array.isArray(found)) return error;
  const shown = (path: string) => path.replace(/[^/.[\]]+/g, (name) => names.get(name) ?? name);
  const begun = (text: string, field: string) => (text.startsWith(`${field} `) ? shown(field) + text.slice(field.length) : text);
  const moved = (found as FieldError[]).map(({ pointer, field, code, message }) => ({
    pointer: shown(pointer),
    field: shown(field),
    code,
    message: begun(message, field),
  }));
  return { ...error, message: begun(error.message, String(found[0]?.field)), details: { ...error.details, errors: moved } };
}
