// Writes a call of the control API or the service as a curl command, and quotes text for a shell.

import { CONTROL_PREFIX } from "../contracts/paths.ts";
import type { ControlCall } from "./control-call.ts";
import type { HttpTarget, ServiceCall } from "./http-transport.ts";

/** A control call has no `key`. A service call always has one, or null. */
export type Call<Reply = unknown> =
  | (ControlCall<Reply> & { readonly key?: undefined; readonly headers?: undefined })
  | ServiceCall<Reply>;

export const isControl = (call: Call): call is ControlCall => call.key === undefined;

/**
 * The shell variable of the control token. Shown and copied calls contain it instead of the token: screens are shared,
 * scripts are committed.
 */
const TOKEN_VARIABLE = "$MERCHANT_SANDBOX_CONTROL_TOKEN";

export const headersOf = ({ body, headers }: Call, credential: string | null | undefined): Record<string, string> => ({
  ...(credential == null ? {} : { Authorization: `Bearer ${credential}` }),
  ...(body === undefined ? {} : { "Content-Type": "application/json" }),
  ...headers,
});

export function curlOf(target: HttpTarget, call: Call): string {
  const { method, path, body } = call;
  const payload = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const url = target.url + (isControl(call) ? CONTROL_PREFIX : "") + path;
  const options = [
    ...(method === "GET" ? [] : [method === "HEAD" ? "-I" : `-X ${method}`]),
    ...exactUrlOptions(url),
    quoted(url),
    ...(isControl(call) && target.token !== undefined ? [`-H "Authorization: Bearer ${TOKEN_VARIABLE}"`] : []),
    ...Object.entries(headersOf(call, call.key)).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    // With `-d`, curl would read a body that begins with @ from a file.
    ...(payload === undefined ? [] : [hasNul(payload) ? "--data-binary @-" : `--data-raw ${quoted(payload)}`]),
  ];
  return `${inputOf(payload)}curl -sS ${options.join(" ")}`;
}

/** Whether a URL has a segment such as `..`. Browsers and curl resolve it, and so send another path. */
export const hasDotSegment = (url: string) => /\/(?:\.|%2e){1,2}(?:[/?#]|$)/i.test(url);

/**
 * Options with which curl sends the URL unchanged. Otherwise, curl removes dot segments, and expands brackets and
 * braces.
 */
const exactUrlOptions = (url: string) => [
  ...(hasDotSegment(url) ? ["--path-as-is"] : []),
  ...(/[[\]{}]/.test(url) ? ["-g"] : []),
];

/** A shell cannot pass a NUL in an argument. */
const hasNul = (payload: string | undefined): payload is string => payload?.includes("\0") === true;

/** Pipes a body with a NUL into curl, with the NUL as an escape of printf. */
function inputOf(payload: string | undefined): string {
  if (!hasNul(payload)) return "";
  const format = payload
    .replaceAll("\\", "\\\\")
    .replaceAll("%", "%%")
    .replaceAll("\0", "\\000")
    .replace(/^-/, "\\055");
  return `printf ${quoted(format)} | `;
}

/**
 * Quotes a text without NUL as one argument for a POSIX shell. Inserts `''` into texts such as `::add-mask::`, so that
 * a CI system that logs the command does not run them as its own commands. The argument keeps its value.
 */
export const quoted = (text: string) =>
  `'${text.replaceAll("'", "'\\''").replace(/(?<=^\s*):(?=:)|(?<=#)#(?=\w*\[)/gm, "$&''")}'`;
