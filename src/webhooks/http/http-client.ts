// The HTTP client of deliveries: undici's Agent, configured for webhook receivers and loaded at the first delivery.

import type { LookupFunction } from "node:net";
import type { Agent } from "undici";

export interface HttpClientOptions {
  /** Resolves a host name when a connection is opened, and only to addresses that deliveries may go to. */
  lookup: LookupFunction;
  /** Accept certificates that no known authority signed. */
  insecureTls: boolean;
  /** Real milliseconds that opening a connection may take. */
  connectTimeout: number;
}

/** How long to try one address of a name before the next one; on this machine a connection opens at once. */
const NEXT_ADDRESS_AFTER = 2_000;
/** Default idle time of a connection: shorter than receivers usually keep one, because a request sent into a closing connection is lost. */
const KEEP_ALIVE = 4_000;
/** Close an idle connection this long before the end of the receiver's keep-alive timeout. */
const KEEP_ALIVE_MARGIN = 1_000;

/** There is no limit on connections: a thousand endpoints at one receiver must not wait for each other's. */
export async function openHttpClient({ lookup, insecureTls, connectTimeout }: HttpClientOptions): Promise<Agent> {
  const AgentAlone = await loadAgent();
  return new AgentAlone({
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE,
    keepAliveMaxTimeout: KEEP_ALIVE,
    keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN,
    // The sender keeps one deadline for the whole attempt.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: {
      lookup,
      rejectUnauthorized: !insecureTls,
      timeout: connectTimeout,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER,
    },
  });
}

/** Loads the Agent alone: the whole of undici, with fetch and WebSocket, takes three times as long (150 ms against 50 ms on a busy machine). */
async function loadAgent(): Promise<typeof Agent> {
  // @ts-expect-error: undici declares types only for the package as a whole.
  const { default: AgentAlone } = await import("undici/lib/dispatcher/agent.js");
  return AgentAlone as typeof Agent;
}
