// Gives commands access to a running sandbox: finds its merchants and calls its control API. Replies are checked, and
// errors use the words of the command.

import type { Merchant } from "../../../generated/control-api.ts";
import { type ControlCall, createControlClient } from "../../client/control-call.ts";
import { type HttpReply, httpTransport, reasonOf } from "../../client/http-transport.ts";
import { CONTROL_PREFIX } from "../../contracts/paths.ts";
import { type ErrorCode, errors, SandboxError, usageError } from "../../kernel/errors.ts";
import { mask } from "../../kernel/mask.ts";
import { PROGRAM } from "../../kernel/program-name.ts";
import { kebab } from "../../kernel/text.ts";
import { unknownMerchant } from "../../store/records/tenants.ts";
import type { Flags } from "../arguments.ts";
import { type FoundSandbox, findSandbox, namedUrl } from "./find-sandbox.ts";
import { checkedTransport, MAX_REPLY } from "./probe.ts";

export type RunningSandbox = ReturnType<typeof sandboxAt>;

/** `words` maps fields of the API that are not flags to the command's names, such as `by` to `<duration>`. */
export const connectToSandbox = async (flags: Flags, words: Readonly<Record<string, string>> = {}) =>
  sandboxAt(await findSandbox(flags), flags, words);

/** The sandbox at a known address. `signal` ends its calls. */
export function sandboxAt(
  { url, controlToken, signal }: Pick<FoundSandbox, "url" | "controlToken"> & { signal?: AbortSignal },
  flags: Flags = {},
  words: Readonly<Record<string, string>> = {},
) {
  const translate = (message: string) => inWordsOfCommand(message, flags, words);
  const unreachable = (error: Error) =>
    new SandboxError(
      `No sandbox answers at ${url} (${reasonOf(error)}). ${whoNamed(url, flags)}` +
        `Start one with ${PROGRAM}, or name another one with --url <url>.`,
    );
  const refused = ({ method, path }: ControlCall, reply: HttpReply) =>
    refusal(`${method} ${CONTROL_PREFIX}${path}`, reply, translate, controlToken !== undefined);
  const send = httpTransport({ url, token: controlToken }, { refused, unreachable }, { largest: MAX_REPLY, signal });
  const control = createControlClient(checkedTransport(url, send));
  const merchant = async (wanted: string | undefined) => {
    const { merchants } = await control.overview();
    if (wanted === undefined || merchants.some((one) => isNamed(one, wanted))) return merchantNamed(merchants, wanted);
    // The overview has only the first merchants.
    const of = (id: string) => control.merchants.list({ merchant: id }).catch(() => ({ data: [] }));
    const [exact, prefixed] = await Promise.all([of(wanted), of(`mer_${wanted}`)]);
    return merchantNamed([...exact.data, ...prefixed.data, ...merchants], wanted);
  };
  return {
    url,
    controlToken,
    /** A failed call throws an error in the command's words. */
    control,
    /** A merchant with an API key, found by its id or the part after mer_ (default: the first one). */
    merchant,
    /** The id of the merchant named by a flag; undefined without the flag. */
    merchantId: async (wanted: string | undefined) => (wanted === undefined ? undefined : (await merchant(wanted)).id),
  };
}

/** Names the variable if the address comes from it, because the variable may be left over from an earlier sandbox. */
export const whoNamed = (url: string, flags: Flags) =>
  flags.url === undefined && process.env.MERCHANT_SANDBOX_URL !== undefined && namedUrl(flags) === url
    ? "The variable MERCHANT_SANDBOX_URL names it: unset it if that sandbox has ended. "
    : "";

const isNamed = ({ id }: Pick<Merchant, "id">, wanted: string) => id === wanted || id === `mer_${wanted}`;

/** Finds a merchant by its id or the part after mer_ (default: the first one). */
export function merchantNamed(merchants: readonly Merchant[], wanted: string | undefined): { id: string; key: string } {
  const found = wanted === undefined ? merchants[0] : merchants.find((one) => isNamed(one, wanted));
  const key = found?.apiKeys[0];
  if (found && key) return { id: found.id, key };
  const ids = merchants.map(({ id }) => id);
  if (wanted !== undefined && !found) usageError(unknownMerchant(wanted, ids));
  usageError(found ? `The merchant ${found.id} has no API key.` : "This sandbox has no merchant.");
}

/** Maximum characters printed of a server's message. */
const MAX_MESSAGE = 2_000;

/** The statuses for a wrong value or name in the command. The error then omits the HTTP call: the message suffices. */
const REFUSED_WORDS: Readonly<Record<number, "usage" | "runtime">> = { 400: "usage", 404: "usage", 409: "runtime" };

/** Replaces an API field at the start of a message with the flag or argument that set it. */
const inWordsOfCommand = (message: string, flags: Flags, words: Readonly<Record<string, string>>) =>
  message.replace(/^(?:(?:trigger|action|match)\.)?([a-zA-Z]+)(\.\d+)?(?= must )/, (whole, field: string) => {
    const flag = [kebab(field), kebab(field).replace(/-id$/, "")].find((name) => flags[name] !== undefined);
    return words[field] ?? (flag === undefined ? whole : `--${flag}`);
  });

function refusal(
  call: string,
  { status, body }: HttpReply,
  translate: (message: string) => string,
  hasToken: boolean,
): SandboxError {
  const { message, code, details } = (body ?? {}) as { message?: unknown; code?: unknown; details?: unknown };
  const said =
    typeof message === "string"
      ? message.slice(0, MAX_MESSAGE)
      : mask(typeof body === "string" ? body : JSON.stringify(body), 200);
  const exit = REFUSED_WORDS[status];
  // Another program at that address may send any text as its code.
  const cause = typeof code === "string" && Object.hasOwn(errors, code) ? { code: code as ErrorCode } : undefined;
  if (code === "control_token_required") {
    const problem = hasToken ? "The control token is wrong" : "The sandbox requires its control token";
    const remedy = `${hasToken ? "give the right one with" : "add"} --control-token <token>`;
    return new SandboxError(`${problem}: ${remedy}, or set MERCHANT_SANDBOX_CONTROL_TOKEN.`, "runtime", cause);
  }
  if (exit !== undefined && typeof message === "string" && typeof code === "string" && code !== "route_not_found")
    return new SandboxError(
      allProblems(details)?.map(translate).join("\n").slice(0, MAX_MESSAGE) ?? translate(said),
      exit,
      cause,
    );
  return new SandboxError(`${call} got ${status}: ${said}`, "runtime", cause);
}

/** The messages of all invalid fields, if there are several. The error's own message explains only the first. */
function allProblems(details: unknown): string[] | undefined {
  const { errors } = (details ?? {}) as { errors?: unknown };
  const messages = Array.isArray(errors) ? errors.map((error) => (error as { message?: unknown } | null)?.message) : [];
  return messages.length > 1 && messages.every((message) => typeof message === "string") ? messages : undefined;
}

/** The URL on this machine. If a sandbox listens on all addresses, only other machines may know its host name. */
export const localUrl = ({ url, port }: { url: string; port: number }, host: string | undefined) =>
  host === "0.0.0.0" || host === "::" ? `http://127.0.0.1:${port}` : url;

export function variablesOf(
  { url, controlToken }: { url: string; controlToken?: string | undefined },
  key: string,
  secret: string | undefined,
): Record<string, string> {
  return {
    MERCHANT_BASE_URL: `${url}/v1`,
    MERCHANT_API_KEY: key,
    ...(secret === undefined ? {} : { MERCHANT_WEBHOOK_SECRET: secret }),
    MERCHANT_SANDBOX_URL: url,
    ...(controlToken === undefined ? {} : { MERCHANT_SANDBOX_CONTROL_TOKEN: controlToken }),
  };
}
