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

/** Real milliseconds to try one address of a host name before the next. Local connections open at once. */
const NEXT_ADDRESS_AFTER = 2_000;
/** Default keep-alive timeout. Most receivers keep connections longer; a request sent on one that the receiver closes is lost. */
const KEEP_ALIVE = 4_000;
/** Close an idle connection this long before the end of the receiver's keep-alive timeout. */
const KEEP_ALIVE_MARGIN = 1_000;

/** Connections are not limited, so that the endpoints of one receiver do not wait for each other. */
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

/** Loads only the Agent. All of undici, with fetch and WebSocket, takes three times as long (150 ms against 50 ms on a busy machine). */
async function loadAgent(): Promise<typeof Agent> {
  // @ts-expect-error: undici declares types only for the package as a whole.
  const { default: AgentAlone } = await import("undici/lib/dispatcher/agent.js");
  return AgentAlone as typeof Agent;
}
