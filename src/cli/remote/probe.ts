// Short checks of an address: whether a sandbox responds and is ready, and its description.

import type { ControlApi, SandboxOverviewReply } from "../../../generated/control-api.ts";
import { createControlClient } from "../../client/control-call.ts";
import { type HttpReply, reasonOf } from "../../client/http-exchange.ts";
import { httpTransport } from "../../client/http-transport.ts";
import { type ErrorBody, SandboxError } from "../../kernel/errors.ts";
import { checkedTransport } from "./checked-replies.ts";

const MAX_RESPONSE = 1_048_576;

/** A reply that is no success, or none at all. */
class ProbeFailure extends Error {
  readonly reply: HttpReply | undefined;

  constructor(message: string, reply?: HttpReply) {
    super(message);
    this.reply = reply;
  }
}

function probe(url: string, token: string | undefined, timeout = 2_000): ControlApi {
  const words = {
    refused: (_: unknown, reply: HttpReply) => new ProbeFailure(`answered ${reply.status}`, reply),
    unreachable: (error: Error) => (error instanceof SandboxError ? error : new ProbeFailure(reasonOf(error))),
  };
  const origin = originOf(url);
  const send = httpTransport({ url: origin, token }, words, { timeout, largest: MAX_RESPONSE });
  return createControlClient(checkedTransport(origin, send, () => new ProbeFailure(stranger(200))));
}

/** The overview of the sandbox at an address; undefined if there is none. */
export async function describeSandboxAt(
  url: string,
  token: string | undefined,
  timeout?: number,
): Promise<SandboxOverviewReply | undefined> {
  const reply = await probe(url, token, timeout).overview().catch(orFailure);
  return reply instanceof ProbeFailure || reply?.name !== "merchant-sandbox" ? undefined : reply;
}

/** The longest stall of the sandbox at an address, in milliseconds; undefined if it does not say. */
export async function longestStallAt(url: string): Promise<number | undefined> {
  const reply = await probe(url, undefined).health().catch(orFailure);
  return reply instanceof ProbeFailure ? undefined : reply?.longestStallMs;
}

/** Why no sandbox is ready at an address; undefined if one is. A sandbox that requires its token has started, so it is ready. */
export async function whyNotReady(url: string, token: string | undefined, timeout?: number): Promise<string | undefined> {
  const reply = await probe(url, token, timeout).health().catch(orFailure);
  if (!(reply instanceof ProbeFailure)) return reply?.status === "ready" ? undefined : stranger(200);
  if (!reply.reply) return reply.message;
  const { code, message } = (reply.reply.body ?? {}) as Partial<ErrorBody>;
  if (code === "control_token_required") return undefined;
  return code === undefined ? stranger(reply.reply.status) : (message ?? code);
}

const stranger = (status: number) => `the server there (status ${status}) is not a merchant-sandbox`;

function orFailure(error: unknown): ProbeFailure {
  if (error instanceof ProbeFailure) return error;
  throw error;
}

function originOf(url: string): string {
  const found = URL.canParse(url) ? new URL(url) : undefined;
  if (found?.protocol === "http:") return found.origin;
  throw new SandboxError(`"${url}" is not the URL of a sandbox, such as http://127.0.0.1:4747.`, "usage");
}
