// Sends a webhook request and reports the outcome: one POST, one deadline for everything, no redirects, no more of the
// response than needed.

import type { LookupFunction } from "node:net";
import { Readable } from "node:stream";
import type { Agent, Dispatcher } from "undici";
import type { WebhookRequest } from "../../contracts/webhook.ts";
import { afterRealTime, realDelay, realNow } from "../../kernel/clock.ts";
import { once } from "../../kernel/once.ts";
import { withResolvers } from "../../kernel/with-resolvers.ts";
import {
  explainNetworkError,
  failure,
  judgeStatus,
  MAX_MASKED_BODY,
  noResponse,
  type Outcome,
  type OutcomeError,
  outcomeOf,
  type PartialResponse,
} from "./outcome.ts";
import type { TargetPolicy } from "./target-policy.ts";

export interface SenderOptions {
  targets: TargetPolicy;
  /** Real milliseconds from the start to the last byte of the response. */
  timeout: number;
  /** Whether to accept certificates that no known authority signed. */
  insecureTls: boolean;
}

/** Real milliseconds to try one address of a host name before the next. Local connections open at once. */
const NEXT_ADDRESS_AFTER = 2_000;
/**
 * Default keep-alive timeout. Most receivers keep connections longer. A request on a connection that the receiver is
 * closing is lost.
 */
const KEEP_ALIVE = 4_000;
/** An idle connection is closed this many milliseconds before the end of the receiver's keep-alive timeout. */
const KEEP_ALIVE_MARGIN = 1_000;

/** Real milliseconds after which a `hang_up` fault closes the connection, even without a response. */
const HANG_UP_AFTER = 50;

/** The most bytes that are read from a response. */
const MAX_RESPONSE = 65_536;
/** Created once: an error for each attempt would cost more than its signature. */
const ATTEMPT_OVER = new Error("The attempt is over.");

export function createSender({ targets, timeout, insecureTls }: SenderOptions) {
  let agent: Agent | undefined;
  let closed = false;
  const loadAgent = once(async () => {
    agent = await openHttpClient(targets.lookup, insecureTls, timeout);
    if (closed) void agent.destroy();
    return agent;
  });
  return {
    /** Resolves with the outcome. `abort` ends the attempt at once, when its outcome no longer matters. */
    send(request: WebhookRequest) {
      if (request.transport === "drop")
        return notSent(failure("dropped", "A fault rule dropped this attempt: nothing was sent."));
      const refused = targets.refusal(request.url);
      if (refused) return notSent(failure("target_not_allowed", refused.message));
      return exchange(agent ?? loadAgent(), request, timeout);
    },
    close() {
      closed = true;
      void agent?.destroy();
    },
  };
}

const notSent = (error: OutcomeError) => ({
  outcome: Promise.resolve(outcomeOf(noResponse(), error)),
  abort: () => {},
});

function exchange(client: Agent | Promise<Agent>, request: WebhookRequest, timeout: number) {
  const { origin, host, pathname, search } = new URL(request.url);
  const response = noResponse();
  let isOver = false;
  let began: number | undefined;
  let cancelDeadline = () => {};
  const { promise: outcome, resolve } = withResolvers<Outcome>();
  const end = (error: OutcomeError) => {
    if (isOver) return;
    isOver = true;
    cancelDeadline();
    reader.stop();
    resolve(outcomeOf(response, error, began));
  };
  const reader = createReader(response, host, end);
  const start = (agent: Agent) => {
    if (isOver) return;
    began = realNow();
    const allowed = request.transport === "hang_up" ? Math.min(HANG_UP_AFTER, timeout) : timeout;
    cancelDeadline = afterRealTime(allowed, () =>
      end(failure("timeout", `No complete response within ${allowed} ms.`)),
    );
    const body = bodyOf(request, timeout, () =>
      end(failure("reset", "A fault rule cut the connection in the middle of the body.")),
    );
    agent.dispatch({ origin, path: pathname + search, method: "POST", headers: request.headers, body }, reader.handler);
  };
  // The deadline starts with the request: loading the HTTP client does not count against the receiver.
  if (client instanceof Promise) client.then(start).catch((error: unknown) => end(explainNetworkError(error, host)));
  else start(client);
  return { outcome, abort: () => end(failure("reset", "The sandbox aborted the attempt.")) };
}

/**
 * Reads the response as far as it is needed, then calls `end`; `stop` closes the connection of an unfinished exchange.
 */
function createReader(response: PartialResponse, host: string, end: (error: OutcomeError) => void) {
  let controller: Dispatcher.DispatchController | undefined;
  let isStopped = false;
  const endByStatus = () => end(judgeStatus(response.status ?? 0));
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started;
      if (isStopped) started.abort(ATTEMPT_OVER);
    },
    onResponseStart(_, status, headers) {
      // An interim response, such as 103 Early Hints, comes before the response itself.
      if (status < 200) return;
      response.status = status;
      response.retryAfter = [headers["retry-after"]].flat()[0];
    },
    onResponseData(_, chunk) {
      if (response.size < MAX_MASKED_BODY) response.chunks.push(chunk);
      response.size += chunk.length;
      if (response.size >= MAX_RESPONSE) endByStatus();
    },
    onResponseEnd: endByStatus,
    onResponseError(_, error) {
      if (hasNoBody(response.status)) endByStatus();
      else end(explainNetworkError(error, host));
    },
  };
  const stop = () => {
    isStopped = true;
    controller?.abort(ATTEMPT_OVER);
  };
  return { handler, stop };
}

/** These statuses end the response with its headers, even if a Content-Length says otherwise. */
const hasNoBody = (status: number | null) => status === 204 || status === 304;

function bodyOf({ body, transport }: WebhookRequest, timeout: number, abort: () => void): string | Readable {
  if (transport === "slow_send") return Readable.from(slowBody(body, timeout));
  if (transport === "abort_mid_body") return Readable.from(halfBody(body, abort));
  return body;
}

/**
 * undici's Agent, loaded at the first delivery. Connections are not limited, so that the endpoints of one receiver do
 * not wait for each other.
 */
async function openHttpClient(lookup: LookupFunction, insecureTls: boolean, connectTimeout: number): Promise<Agent> {
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

/**
 * Loads only the Agent. All of undici, with fetch and WebSocket, takes three times as long (150 ms against 50 ms on a
 * busy machine).
 */
async function loadAgent(): Promise<typeof Agent> {
  // @ts-expect-error: undici declares types only for the package as a whole.
  const { default: AgentAlone } = await import("undici/lib/dispatcher/agent.js");
  return AgentAlone as typeof Agent;
}

const PIECES = 8;
/** Real milliseconds that sending a slow body takes in total, if the deadline allows it. */
const SLOW_SEND = 2_000;
/** Real milliseconds between sending the first half of a body and cutting the connection. */
const BEFORE_ABORT = 20;

/** The body of a slow delivery in pieces, with pauses that take at most half of the attempt's timeout. */
async function* slowBody(text: string, timeout: number): AsyncGenerator<Buffer> {
  const body = Buffer.from(text);
  const size = Math.ceil(body.length / PIECES);
  for (let start = 0; start < body.length; start += size) {
    if (start > 0) await realDelay(Math.min(SLOW_SEND, timeout / 2) / PIECES);
    yield body.subarray(start, start + size);
  }
}

/** The first half of the body; then calls `abort`, which must end the request. */
export async function* halfBody(text: string, abort: () => void): AsyncGenerator<Buffer> {
  const body = Buffer.from(text);
  yield body.subarray(0, Math.ceil(body.length / 2));
  await realDelay(BEFORE_ABORT);
  abort();
}
