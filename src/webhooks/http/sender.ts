// Sends one planned attempt and says how it went: one POST, one deadline, no redirects, no more of the answer than is needed.

import { memoize } from "../../kernel/bounded-cache.ts";
import { afterRealTime, realDelay, stopwatch } from "../../kernel/clock.ts";
import { type Connections, createConnections, type Ears } from "./connection-pool.ts";
import { explainError, failure, judge, MOST_KEPT, nothing, type Outcome, outcomeOf, type Verdict } from "./outcome.ts";
import type { Targets } from "./target-policy.ts";

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
  close(): void;
}

export interface SenderNeeds {
  targets: Targets;
  /** Real milliseconds from the start to the last byte of the answer. */
  timeout: number;
  /** Takes certificates that nobody vouches for. */
  insecureTls: boolean;
}

const MOST_READ = 65_536;
const MOST_KNOWN = 1_000;

export function createSender({ targets, timeout, insecureTls }: SenderNeeds): Sender {
  const connections = createConnections({ lookup: targets.lookup, rejectUnauthorized: !insecureTls });
  const addresses = memoize(MOST_KNOWN, readAddress);
  return {
    send(plan) {
      if (plan.manner === "dropped") return unsent(failure("dropped", "A fault rule dropped this attempt: nothing was sent."));
      const refused = targets.refusal(plan.url);
      if (refused) return unsent(failure("target_not_allowed", refused.message));
      return exchange(connections, addresses(plan.url), plan, timeout);
    },
    close: connections.close,
  };
}

interface Address {
  url: URL;
  /** How every request to it begins. */
  opening: string;
}

function readAddress(text: string): Address {
  const url = new URL(text);
  return { url, opening: `POST ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\nconnection: keep-alive\r\n` };
}

const unsent = (verdict: Verdict): Sending => ({ outcome: Promise.resolve(outcomeOf(nothing(), verdict, 0)), abort: () => {} });

function exchange(connections: Connections, { url, opening }: Address, { headers, body, manner }: Plan, timeout: number): Sending {
  const elapsed = stopwatch();
  const received = nothing();
  let conclude: (outcome: Outcome) => void = () => {};
  const outcome = new Promise<Outcome>((resolve) => {
    conclude = resolve;
  });
  const end = (verdict: Verdict) => {
    cancel();
    stop();
    conclude(outcomeOf(received, verdict, elapsed()));
  };
  const cancel = afterRealTime(timeout, () => end(failure("timeout", `No whole answer came within ${timeout} ms.`)));
  const cut = () => end(failure("reset", "A fault rule cut the connection in the middle of the body."));
  const sent = manner === undefined ? body : pieces(body, manner === "slow" ? timeout : undefined, cut);
  const ears: Ears = {
    status(status, retryAfter) {
      received.status = status;
      received.retryAfter = retryAfter;
    },
    data(bytes) {
      if (received.size < MOST_KEPT) received.chunks.push(Buffer.from(bytes.subarray(0, MOST_KEPT - received.size)));
      received.size += bytes.length;
      if (received.size >= MOST_READ) ears.end();
    },
    end: () => end(judge(received.status ?? 0)),
    fail: (error) => end(explainError(error, url.host)),
  };
  const stop = connections.request({ url, head: opening + written(headers), body: sent }, ears);
  return { outcome, abort: () => end(failure("reset", "The sandbox gave the attempt up.")) };
}

/** The rest of a head. */
function written(headers: Record<string, string>): string {
  let text = "";
  for (const name in headers) text += `${name}: ${headers[name]?.replace(BREAKS, " ")}\r\n`;
  return `${text}\r\n`;
}

/** What is no part of a value: a line break would begin another header. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const BREAKS = /[\0-\x08\n-\x1f\x7f]/g;

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
