// A running sandbox as a command uses it: its control API with checked replies and errors in words of the command, its merchants, and its variables.

import type { ControlApi, Merchant } from "../../../generated/control-api.ts";
import { createControlClient } from "../../client/control-call.ts";
import { type HttpReply, reasonOf } from "../../client/http-exchange.ts";
import { type FailureWords, httpTransport } from "../../client/http-transport.ts";
import { CONTROL_PREFIX } from "../../contracts/paths.ts";
import { SandboxError, usageError } from "../../kernel/errors.ts";
import { mask } from "../../kernel/mask.ts";
import { kebab } from "../../kernel/text.ts";
import { unknownMerchant } from "../../store/records/tenants.ts";
import type { Flags } from "../arguments.ts";
import { type FoundSandbox, findSandbox } from "./find-sandbox.ts";
import { checkedTransport, MAX_REPLY } from "./probe.ts";

export interface RunningSandbox {
  readonly url: string;
  readonly controlToken: string | undefined;
  /** The control API. A refused call throws an error of the command. */
  readonly control: ControlApi;
  /** A merchant with an API key, found by its id or the part after mer_ (default: the first one). */
  merchant(wanted: string | undefined): Promise<{ id: string; key: string }>;
  /** The id of the merchant that a flag names; undefined without the flag. */
  merchantId(wanted: string | undefined): Promise<string | undefined>;
}

/** A running sandbox as a command finds it. `words` are the command's names for fields of the API that are not flags, such as `<duration>` for `by`. */
export async function connectToSandbox(flags: Flags, words: Readonly<Record<string, string>> = {}): Promise<RunningSandbox> {
  return sandboxAt(await findSandbox(flags), flags, words);
}

/** The sandbox at a known address. */
export function sandboxAt(
  { url, controlToken }: Pick<FoundSandbox, "url" | "controlToken">,
  flags: Flags = {},
  words: Readonly<Record<string, string>> = {},
): RunningSandbox {
  const translate = (message: string) => inWordsOfCommand(message, flags, words);
  const failures = failureWords(url, translate, controlToken !== undefined);
  const send = httpTransport({ url, token: controlToken }, failures, { largest: MAX_REPLY });
  const control = createControlClient(checkedTransport(url, send));
  const merchant = async (wanted: string | undefined) => merchantNamed((await control.overview()).merchants, wanted);
  return {
    url,
    controlToken,
    control,
    merchant,
    merchantId: async (wanted) => (wanted === undefined ? undefined : (await merchant(wanted)).id),
  };
}

/** Finds a merchant by its id or the part after mer_ (default: the first one). */
export function merchantNamed(merchants: readonly Merchant[], wanted: string | undefined): { id: string; key: string } {
  const found = wanted === undefined ? merchants[0] : merchants.find(({ id }) => id === wanted || id === `mer_${wanted}`);
  const key = found?.apiKeys[0];
  if (found && key) return { id: found.id, key };
  const ids = merchants.map(({ id }) => id);
  if (wanted !== undefined && !found) usageError(unknownMerchant(wanted, ids));
  usageError(found ? `The merchant ${found.id} has no API key.` : "This sandbox has no merchant.");
}

/** The error messages of a command for a failed call. */
const failureWords = (url: string, translate: (message: string) => string, hasToken: boolean): FailureWords => ({
  refused: ({ method, path }, reply) => refusal(method, CONTROL_PREFIX + path, reply, translate, hasToken),
  unreachable: (error) =>
    error instanceof SandboxError
      ? error
      : new SandboxError(
          `No sandbox answers at ${url} (${reasonOf(error)}). Start one with merchant-sandbox, or name another one with --url <url>.`,
        ),
});

/** The number of characters printed of a server's message. */
const MAX_MESSAGE = 2_000;

/** Error codes for a wrong value or name in the command. Their message says everything, so the call behind it is not named. */
const REFUSED_WORDS: Readonly<Record<number, "usage" | "runtime">> = { 400: "usage", 404: "usage", 409: "runtime" };

/** A message that begins with a field of the API, with the flag or the argument that gave the field instead. */
const inWordsOfCommand = (message: string, flags: Flags, words: Readonly<Record<string, string>>) =>
  message.replace(/^(?:(?:trigger|action|match)\.)?([a-zA-Z]+)(\.\d+)?(?= must )/, (whole, field: string) => {
    const flag = [kebab(field), kebab(field).replace(/-id$/, "")].find((name) => flags[name] !== undefined);
    return words[field] ?? (flag === undefined ? whole : `--${flag}`);
  });

function refusal(
  method: string,
  path: string,
  { status, body }: HttpReply,
  translate: (message: string) => string,
  hasToken: boolean,
): SandboxError {
  const { message, code, details } = (body ?? {}) as { message?: unknown; code?: unknown; details?: unknown };
  const said =
    typeof message === "string" ? message.slice(0, MAX_MESSAGE) : mask(typeof body === "string" ? body : JSON.stringify(body), 200);
  const exit = REFUSED_WORDS[status];
  if (code === "control_token_required" && !hasToken)
    return new SandboxError("The sandbox requires its control token: add --control-token <token>, or set MERCHANT_SANDBOX_CONTROL_TOKEN.");
  if (exit !== undefined && typeof message === "string" && typeof code === "string" && code !== "route_not_found")
    return new SandboxError(allProblems(details)?.map(translate).join("\n").slice(0, MAX_MESSAGE) ?? translate(said), exit);
  return new SandboxError(`${method} ${path} was answered ${status}: ${said}`);
}

/** The message of each invalid field, where there are several: that of the error has only the first. */
function allProblems(details: unknown): string[] | undefined {
  const { errors } = (details ?? {}) as { errors?: unknown };
  const messages = Array.isArray(errors) ? errors.map((error) => (error as { message?: unknown } | null)?.message) : [];
  return messages.length > 1 && messages.every((message) => typeof message === "string") ? messages : undefined;
}

/** The URL on this machine. A sandbox that listens on all addresses may have a host name that only other machines resolve. */
export const localUrl = ({ url, port }: { url: string; port: number }, host: string | undefined) =>
  host === "0.0.0.0" || host === "::" ? `http://127.0.0.1:${port}` : url;

export function variablesOf(
  { url, controlToken }: { url: string; controlToken?: string | undefined },
  key: string,
): Record<string, string> {
  return {
    MERCHANT_BASE_URL: `${url}/v1`,
    MERCHANT_API_KEY: key,
    MERCHANT_SANDBOX_URL: url,
    ...(controlToken === undefined ? {} : { MERCHANT_SANDBOX_CONTROL_TOKEN: controlToken }),
  };
}
