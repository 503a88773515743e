// What an attempt came to: judged from the receiver's answer, or from what came instead of one.

import { redactText } from "../../kernel/redact.ts";
import type { AttemptError } from "../../store/webhooks/attempts.ts";
import { NOT_HTTP } from "./response-parser.ts";
import { TARGET_NOT_ALLOWED } from "./target-policy.ts";

export interface Outcome {
  /** Null when no answer came. */
  responseStatus: number | null;
  responseBody: string | null;
  responseTruncated: boolean;
  retryAfter: string | undefined;
  /** Null when the receiver took it. */
  errorCode: AttemptError | null;
  errorMessage: string | null;
  /** Real milliseconds. */
  duration: number;
}

/** As much of an answer as was read. */
export interface Received {
  status: number | null;
  retryAfter: string | undefined;
  chunks: Buffer[];
  size: number;
}

export type Verdict = Pick<Outcome, "errorCode" | "errorMessage">;

/** How much of an answer the log keeps. */
export const MOST_KEPT = 4_096;

export const nothing = (): Received => ({ status: null, retryAfter: undefined, chunks: [], size: 0 });

export function outcomeOf(received: Received, verdict: Verdict, duration: number): Outcome {
  const { status, retryAfter, chunks, size } = received;
  return {
    responseStatus: status,
    responseBody: status === null ? null : beginning(chunks),
    responseTruncated: size > MOST_KEPT,
    retryAfter,
    ...verdict,
    duration,
  };
}

/** A whole answer: 2xx is success, and nothing else is. */
export function judge(status: number): Verdict {
  if (status >= 200 && status < 300) return { errorCode: null, errorMessage: null };
  if (status >= 300 && status < 400)
    return failure("redirect_not_followed", `The receiver answered ${status}; redirects are not followed. Register the final address.`);
  return failure("http_status", `The receiver answered ${status}; only 2xx says that a delivery was taken.`);
}

export const failure = (errorCode: AttemptError, errorMessage: string): Verdict => ({ errorCode, errorMessage });

/** No answer, or none that was whole: the error says why, in words that do not change from run to run. */
export function explainError(thrown: unknown, host: string): Verdict {
  const { code, message } = rootOf(thrown);
  if (code === TARGET_NOT_ALLOWED) return failure("target_not_allowed", `${message}.`);
  if (REFUSED.has(code)) return failure("connection_refused", `Nothing listens at ${host} (${code}).`);
  if (UNRESOLVED.has(code)) return failure("dns", `The name ${host} could not be resolved (${code}).`);
  if (/TIMEDOUT|_TIMEOUT$/.test(code)) return failure("timeout", `No connection to ${host} came about in time.`);
  if (/^ERR_(TLS|SSL)|CERT|^EPROTO$|UNABLE_TO_/.test(code))
    return failure("tls", `TLS with ${host} failed (${code}). A self-signed certificate needs --webhook-insecure-tls.`);
  if (code === NOT_HTTP) return failure("reset", `What ${host} answered is not HTTP/1.1: ${message}.`);
  return failure("reset", `The connection to ${host} broke before an answer was whole.`);
}

const REFUSED = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL", "EAFNOSUPPORT"]);
const UNRESOLVED = new Set(["ENOTFOUND", "EAI_AGAIN", "EAI_FAIL", "EAI_NODATA"]);

/** Several addresses of one name fail together: the first of them tells. */
function rootOf(thrown: unknown): { code: string; message: string } {
  const error = thrown as { code?: unknown; message?: unknown; errors?: unknown[] };
  const first = (error.errors?.[0] ?? error) as typeof error;
  return { code: String(first.code ?? error.code ?? ""), message: String(first.message ?? "") };
}

/** Made once: to make one costs more than to read what most receivers answer. */
const decoder = new TextDecoder();

/** Text as far as it goes: a character that the cut went through is left out. Keys that a receiver repeats are masked. */
function beginning(chunks: Buffer[]): string {
  if (chunks.length === 0) return "";
  const text = decoder.decode(Buffer.concat(chunks).subarray(0, MOST_KEPT), { stream: true });
  // Forgets what the cut left over.
  decoder.decode();
  return redactText(text);
}
