// Speaks to a sandbox that runs already, on behalf of a command: its control plane, or its service as one of its merchants.

import { SandboxError } from "../../kernel/errors.ts";
import { optionDefinitions } from "../../sandbox/options.ts";
import type { FlagDefinition } from "../arguments.ts";

export interface Running {
  readonly url: string;
  /** Calls the control plane; a refusal becomes the command's own error. */
  control<T>(method: string, path: string, body?: unknown): Promise<T>;
  /** Calls the service with a merchant's key. */
  service<T>(key: string, method: string, path: string, body?: unknown): Promise<T>;
  /** A merchant, given by id or by the end of its id, with a key of its; the first one when none is given. */
  merchant(wanted: string | undefined): Promise<{ id: string; key: string }>;
}

/** The flags of every command that needs a running sandbox. */
export const runningFlags = {
  url: {
    value: "url",
    description: `use this sandbox (default: MERCHANT_SANDBOX_URL or http://127.0.0.1:${optionDefinitions.port.default})`,
  },
  "control-token": { value: "token", description: "use this control token, which a sandbox open to the network requires" },
} satisfies Record<string, FlagDefinition>;

interface Index {
  merchants: { id: string; apiKeys: string[] }[];
}

export function running(flags: Record<string, string | undefined>): Running {
  const url = (flags.url ?? process.env.MERCHANT_SANDBOX_URL ?? `http://127.0.0.1:${optionDefinitions.port.default}`).replace(
    /\/(v1\/?)?$/,
    "",
  );
  const token = flags["control-token"] ?? process.env.MERCHANT_SANDBOX_CONTROL_TOKEN;
  const control = <T>(method: string, path: string, body?: unknown) => request<T>(url, token, method, `/_sandbox${path}`, body);
  return {
    url,
    control,
    service: (key, method, path, body) => request(url, key, method, `/v1${path}`, body),
    async merchant(wanted) {
      return merchantNamed((await control<Index>("GET", "")).merchants, wanted);
    },
  };
}

/** One of several merchants, by id or by the end of its id; the first when none is asked for. */
export function merchantNamed(merchants: Index["merchants"], wanted: string | undefined): { id: string; key: string } {
  const found = wanted === undefined ? merchants[0] : merchants.find(({ id }) => id === wanted || id === `mer_${wanted}`);
  const key = found?.apiKeys[0];
  if (found && key) return { id: found.id, key };
  throw new SandboxError(
    `This sandbox has no merchant ${wanted ?? "at all"}; it has ${merchants.map(({ id }) => id).join(", ")}.`,
    "usage",
  );
}

async function request<T>(url: string, token: string | undefined, method: string, path: string, body: unknown): Promise<T> {
  const headers: Record<string, string> = {
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { "Content-Type": "application/json" }),
  };
  const answer = await fetch(url + path, { method, headers, body: body === undefined ? null : JSON.stringify(body) }).catch(
    (error: Error) => {
      const cause = error.cause instanceof Error ? error.cause.message || String((error.cause as { code?: string }).code) : error.message;
      throw new SandboxError(
        `No sandbox answers at ${url} (${cause}). Start one with merchant-sandbox, or name another one with --url <url>.`,
      );
    },
  );
  const text = await answer.text();
  if (answer.ok) return (answer.headers.get("content-type")?.startsWith("application/json") ? JSON.parse(text) : text) as T;
  throw new SandboxError(`${method} ${path} was answered ${answer.status}: ${messageOf(text)}`);
}

function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? text;
  } catch {
    return text.slice(0, 200);
  }
}
