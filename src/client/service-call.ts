// A call of the service under /v1 with a merchant's key, as any client of the service makes it.

import type { CallFor } from "./control-call.ts";
import { exchange, type HttpReply } from "./http-exchange.ts";
import { bearer } from "./http-transport.ts";

export interface ServiceCall<Reply = unknown> extends CallFor<Reply> {
  readonly method: string;
  /** With /v1 and the query. */
  readonly path: string;
  /** An API key; null for a call without one. */
  readonly key: string | null;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
}

/** Resolves with the reply, whatever its status. */
export const callService = async (url: string, { method, path, key, headers, body }: ServiceCall): Promise<HttpReply> =>
  exchange(url + path, { method, headers: { ...bearer(key), ...headers }, body });
