// Sends one planned attempt and says how it went: one POST, one deadline, no redirects, no more of the answer than is needed.

import { Readable } from "node:stream";
import type { Agent, Dispatcher } from "undici";
import { afterRealTime, realDelay, stopwatch } from "../kernel/clock.ts";
import { explainError, failure, judge, MOST_KEPT, nothing, type Outcome, outcomeOf, type Received, type Verdict } from "./outcome.ts";
import type { Targets } from "./target.ts";

/** What goes over the wire. */
export interface Plan {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** How a fault rule wants it sent: in pieces, cut off in the middle, or not at all. */
  manner?: "slow" | "cut" | "dropped";
}

export interface Sending {
  readonly outcome: Promise<Outcome>;
  /** Ends it at once: for when nobody wants to know the outcome any more. */
  abort(): void;
}

export interface Sender {
  send(plan: Plan): Sending;
  close(): Promise<void>;
}

export interface SenderNeeds {
  targets: Targets;
  /** Real milliseconds from the start to the last byte of the answer. */
  timeout: number;
  /** Takes certificates that nobody vouches for. */
  insecureTls: boolean;
}

const MOST_READ = 65_536;
/** Made once: an error for each attempt would cost more than the attempt's signature. */
const OVER = new Error("The attempt is over.");
/** How long one address of a name is tried before the next one; on this machine an answer takes no time. */
const NEXT_ADDRESS_AFTER = 2_000;

export function createSender({ targets, timeout, insecureTls }: SenderNeeds): Sender {
  let agent: Promise<Agent> | undefined;
  const open = () =>
    openAgent({
      // Connections are kept and not counted: a thousand endpoints at one receiver must not wait for each other's.
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: {
        lookup: targets.lookup,
        timeout,
        rejectUnauthorized: !insecureTls,
        autoSelectFamily: true,
        autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER,
      },
    });
  return {
    send(plan) {
      if (plan.manner === "dropped") return unsent(failure("dropped", "A fault rule dropped this attempt: nothing was sent."));
      const refused = targets.refusal(plan.url);
      if (refused) return unsent(failure("target_not_allowed", refused.message));
      agent ??= open();
      return exchange(agent, plan, timeout);
    },
    close: async () => (await agent)?.destroy(null),
  };
}

/** Read when the first delivery goes out, and the agent alone: the whole library would take three times as long. */
async function openAgent(options: Agent.Options): Promise<Agent> {
  // @ts-expect-error: the library declares types for its whole only.
  const { default: AgentAlone } = await import("undici/lib/dispatcher/agent.js");
  return new (AgentAlone as new (options: Agent.Options) => Agent)(options);
}

const unsent = (verdict: Verdict): Sending => ({ outcome: Promise.resolve(outcomeOf(nothing(), verdict, 0)), abort: () => {} });

function exchange(agent: Promise<Agent>, plan: Plan, timeout: number): Sending {
  const { url, headers, body, manner } = plan;
  const elapsed = stopwatch();
  const { origin, host, pathname, search } = new URL(url);
  const received = nothing();
  let conclude: (outcome: Outcome) => void = () => {};
  const outcome = new Promise<Outcome>((resolve) => {
    conclude = resolve;
  });
  const end = (verdict: Verdict) => {
    cancel();
    listener.stop();
    conclude(outcomeOf(received, verdict, elapsed()));
  };
  const late = () => end(failure("timeout", `No whole answer came within ${timeout} ms.`));
  const cancel = afterRealTime(timeout, late);
  const listener = listen(received, end, host);
  const cut = () => end(failure("reset", "A fault rule cut the connection in the middle of the body."));
  const sent = manner === undefined ? body : Readable.from(pieces(body, manner === "slow" ? timeout : undefined, cut));
  agent
    .then((opened) => opened.dispatch({ origin, path: pathname + search, method: "POST", headers, body: sent }, listener.handler))
    .catch((error: unknown) => end(explainError(error, host)));
  return { outcome, abort: () => end(failure("reset", "The sandbox gave the attempt up.")) };
}

/** How many pieces a slow body comes in, and the real milliseconds that all of it takes where the deadline allows that. */
const PIECES = 8;
const SLOW = 2_000;
/** Real milliseconds for the first half to leave this machine. */
const BEFORE_CUT = 20;

/** A body in pieces: with pauses between them where there is a deadline to keep, or else only its first half, after which it is cut. */
async function* pieces(text: string, deadline: number | undefined, cut: () => void): AsyncGenerator<Buffer> {
  const body = Buffer.from(text);
  if (deadline === undefined) {
    yield body.subarray(0, Math.ceil(body.length / 2));
    await realDelay(BEFORE_CUT);
    return cut();
  }
  const size = Math.ceil(body.length / PIECES);
  for (let start = 0; start < body.length; start += size) {
    if (start > 0) await realDelay(Math.min(SLOW, deadline / 2) / PIECES);
    yield body.subarray(start, start + size);
  }
}

/** Hears the answer, up to what is worth reading; `stop` ends the exchange wherever it stands. */
function listen(received: Received, end: (verdict: Verdict) => void, host: string) {
  let controller: Dispatcher.DispatchController | undefined;
  let over = false;
  const stop = () => {
    if (over) return;
    over = true;
    controller?.abort(OVER);
  };
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started;
      if (over) started.abort(OVER);
    },
    onResponseStart(_, status, headers) {
      received.status = status;
      received.retryAfter = [headers["retry-after"]].flat()[0];
    },
    onResponseData(_, chunk) {
      if (received.size < MOST_KEPT) received.chunks.push(chunk);
      received.size += chunk.length;
      if (received.size >= MOST_READ) end(judge(received.status ?? 0));
    },
    onResponseEnd() {
      over = true;
      end(judge(received.status ?? 0));
    },
    onResponseError(_, error) {
      if (!over) end(explainError(error, host));
    },
  };
  return { handler, stop };
}
