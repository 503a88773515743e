// The type of the function that makes the dashboard's calls, and the error of a rejected call.

import type { Call } from "../../src/client/curl.ts";
import type { HttpReply, HttpTarget } from "../../src/client/http-transport.ts";
import type { ErrorBody, FieldError } from "../../src/kernel/errors.ts";

/** The error of a rejected call; `fields` has the errors of single fields. */
export class RefusedCall extends Error {
  readonly fields: readonly FieldError[];

  constructor(message: string, fields: readonly FieldError[]) {
    super(message);
    this.fields = fields;
  }
}

export function refusalOf({ method, path }: Pick<Call, "method" | "path">, { status, body }: HttpReply): RefusedCall {
  const { message, details } = (body ?? {}) as Partial<ErrorBody>;
  const errors = details?.errors;
  return new RefusedCall(
    message ?? `${method} ${path} got ${status}`,
    Array.isArray(errors) ? (errors as FieldError[]) : [],
  );
}

/**
 * Makes a call. If the control API rejects a call, the promise rejects with a `RefusedCall`. A call of the service
 * resolves whatever its status is.
 */
export type Perform = <Reply>(target: HttpTarget, call: Call<Reply>) => Promise<HttpReply<Reply>>;
