// The calls behind the keys of the dashboard: of the control API, or of the service with a merchant's key. Shown as curl.

import type { ControlCall } from "../../src/client/control-call.ts";
import type { HttpReply } from "../../src/client/http-exchange.ts";
import type { HttpTarget, ServiceCall } from "../../src/client/http-transport.ts";
import { CONTROL_PREFIX } from "../../src/contracts/paths.ts";
import type { ErrorBody, FieldError } from "../../src/kernel/errors.ts";

/** A control call never has a key, and a service call always has one, or null. */
export type Call<Reply = unknown> = (ControlCall<Reply> & { readonly key?: undefined; readonly headers?: undefined }) | ServiceCall<Reply>;

export const isControl = (call: Call): call is ControlCall => call.key === undefined;

/** A call was refused; `fields` are those that were wrong. */
export class RefusedCall extends Error {
  readonly fields: readonly FieldError[];

  constructor(message: string, fields: readonly FieldError[]) {
    super(message);
    this.fields = fields;
  }
}

/** The error in a reply of the control API or the service. */
export function refusalOf({ method, path }: Pick<Call, "method" | "path">, { status, body }: HttpReply): RefusedCall {
  const { message, details } = (body ?? {}) as Partial<ErrorBody>;
  const errors = details?.errors;
  return new RefusedCall(message ?? `${method} ${path} was answered ${status}`, Array.isArray(errors) ? (errors as FieldError[]) : []);
}

/** Makes a call. A control call that is refused rejects with a `RefusedCall`; a service call resolves whatever its status. */
export type Perform = <Reply>(target: HttpTarget, call: Call<Reply>) => Promise<HttpReply<Reply>>;

/** Holds the control token in a shell. Calls that are shown or copied name it, because screens are shared and scripts are committed. */
const TOKEN_VARIABLE = "$MERCHANT_SANDBOX_CONTROL_TOKEN";

/** The same call for a shell. */
export function curlOf(target: HttpTarget, call: Call): string {
  const { method, path, body, headers = {} } = call;
  const payload = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const sent = {
    ...(call.key == null ? {} : { Authorization: `Bearer ${call.key}` }),
    ...(payload === undefined ? {} : { "Content-Type": "application/json" }),
    ...headers,
  };
  const options = [
    ...(method === "GET" ? [] : [`-X ${method}`]),
    quoted(target.url + (isControl(call) ? CONTROL_PREFIX : "") + path),
    ...(isControl(call) && target.token !== undefined ? [`-H "Authorization: Bearer ${TOKEN_VARIABLE}"`] : []),
    ...Object.entries(sent).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...dataOptions(payload),
  ];
  return `${inputOf(payload)}curl -sS ${options.join(" ")}`;
}

/** No shell can pass a NUL in an argument. */
const hasNul = (payload: string | undefined): payload is string => payload?.includes("\0") === true;

/** `--data-raw`: with `-d`, a body that begins with @ names a file. */
function dataOptions(payload: string | undefined): string[] {
  if (payload === undefined) return [];
  return [hasNul(payload) ? "--data-binary @-" : `--data-raw ${quoted(payload)}`];
}

/** A body with a NUL is piped, with the NUL as an escape of printf. */
function inputOf(payload: string | undefined): string {
  if (!hasNul(payload)) return "";
  const format = payload.replaceAll("\\", "\\\\").replaceAll("%", "%%").replaceAll("\0", "\\000").replace(/^-/, "\\055");
  return `printf ${quoted(format)} | `;
}

/** One argument for a POSIX shell, whatever it contains but NUL. */
export const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
