// Asks an address one question, briefly: for what wants to know at once whether a sandbox is there, and what it is.

import { request } from "node:http";
import { SandboxError } from "../../kernel/errors.ts";

export interface Heard {
  /** Undefined where nothing answered. */
  status?: number;
  body?: unknown;
  /** Why there is no answer. */
  trouble?: string;
}

/** What a sandbox tells of itself. */
export interface Introduction {
  name: string;
  version: string;
  pid: number;
  database: string | null;
  clock: { mode: string; now: string };
  merchants: { id: string; apiKeys: string[] }[];
}

const LARGEST = 1_048_576;

/** Never through a proxy, whatever the environment says: a sandbox is near. */
export function ask(url: string, path: string, token: string | undefined, within = 2_000): Promise<Heard> {
  const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${sendable(token)}` };
  return new Promise((resolve) => {
    const outgoing = request(addressOf(url, path), { headers, timeout: within, agent: false }, (incoming) => {
      let text = "";
      incoming.setEncoding("utf8");
      incoming.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > LARGEST) incoming.destroy();
      });
      incoming.once("error", (error) => resolve({ trouble: error.message }));
      incoming.once("close", () => resolve({ status: incoming.statusCode ?? 0, body: parsed(text) }));
    });
    outgoing.once("timeout", () => outgoing.destroy(new Error(`no answer within ${within} ms`)));
    outgoing.once("error", (error: Error & { code?: string }) => resolve({ trouble: error.message || String(error.code) }));
    outgoing.end();
  });
}

/** What tells of itself at an address, where that is a sandbox. */
export async function introduce(url: string, token: string | undefined, within?: number): Promise<Introduction | undefined> {
  const { status, body } = await ask(url, "/_sandbox", token, within);
  const told = body as Partial<Introduction> | undefined;
  return status === 200 && told?.name === "merchant-sandbox" ? (told as Introduction) : undefined;
}

/** Why what is at an address is no sandbox that is ready; undefined where it is. One that wants its token has begun to answer, so it is ready. */
export async function whyNotReady(url: string, token: string | undefined, within?: number): Promise<string | undefined> {
  const { status, body, trouble } = await ask(url, "/_sandbox/health", token, within);
  if (trouble !== undefined) return trouble;
  const { code, message, status: said } = (body ?? {}) as { code?: string; message?: string; status?: string };
  if ((status === 200 && said === "ready") || code === "control_token_required") return undefined;
  return code === undefined ? `what answers there (${status}) is no merchant-sandbox` : (message ?? code);
}

function sendable(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new SandboxError(
    "--control-token holds spaces or characters that no header can carry; give the one that the sandbox printed.",
    "usage",
  );
}

function addressOf(url: string, path: string): URL {
  const found = URL.canParse(url) ? new URL(path, url) : undefined;
  if (found?.protocol === "http:") return found;
  throw new SandboxError(`"${url}" is no address of a sandbox; one is like http://127.0.0.1:4747.`, "usage");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
