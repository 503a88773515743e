// The calls behind the keys of the dashboard: of the control plane, or of the service with a merchant's key. Sent, and shown as curl.

import type { ControlCall } from "../../src/client/control-call.ts";
import { type HttpReply, reasonOf } from "../../src/client/http-exchange.ts";
import { type HttpTarget, httpTransport } from "../../src/client/http-transport.ts";
import { callService, type ServiceCall } from "../../src/client/service-call.ts";
import { CONTROL_PREFIX } from "../../src/contracts/paths.ts";
import type { ErrorBody, FieldError } from "../../src/kernel/errors.ts";

export type { FieldError };
export type Target = HttpTarget;
export type Answer = HttpReply;

/** A control call never has a key, and a service call always has one, or null. */
export type Call = (ControlCall & { readonly key?: undefined; readonly headers?: undefined }) | ServiceCall;

const isControl = (call: Call): call is ControlCall => call.key === undefined;

/** A call that was refused, and the fields that were wrong. */
export class Refusal extends Error {
  readonly fields: readonly FieldError[];

  constructor(message: string, fields: readonly FieldError[]) {
    super(message);
    this.fields = fields;
  }
}

/** The refusal in a reply; control plane and service word it in the same form. */
export function refusalOf({ method, path }: Pick<Call, "method" | "path">, { status, body }: Answer): Refusal {
  const { message, details } = (body ?? {}) as Partial<ErrorBody>;
  const errors = details?.errors;
  return new Refusal(message ?? `${method} ${path} was answered ${status}`, Array.isArray(errors) ? (errors as FieldError[]) : []);
}

/** Makes a call. A control call that is refused rejects with a `Refusal`; a service call resolves whatever its status. */
export async function perform(target: Target, call: Call): Promise<Answer> {
  const unreachable = unreachableAt(target);
  if (!isControl(call))
    return callService(target.url, call).catch((error: Error) => {
      throw unreachable(error);
    });
  return { status: 200, body: await httpTransport(target, { refused: refusalOf, unreachable })(call) };
}

const unreachableAt =
  ({ url }: Target) =>
  (error: Error & { code?: string }) =>
    error.code === "ECONNREFUSED" || error.code === "ECONNRESET"
      ? new Error(`Nobody answers at ${url}`, { cause: error })
      : new Error(reasonOf(error), { cause: error });

/** The same call for a shell. */
export function curlOf(target: Target, call: Call): string {
  const { method, path, body, headers = {} } = call;
  const payload = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const token = isControl(call) ? target.token : call.key;
  const sent = {
    ...(token == null ? {} : { Authorization: `Bearer ${token}` }),
    ...(payload === undefined ? {} : { "Content-Type": "application/json" }),
    ...headers,
  };
  const options = [
    ...(method === "GET" ? [] : [`-X ${method}`]),
    quoted(target.url + (isControl(call) ? CONTROL_PREFIX : "") + path),
    ...Object.entries(sent).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(payload === undefined ? [] : [`-d ${quoted(payload)}`]),
  ];
  return `curl -sS ${options.join(" ")}`;
}

export const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
