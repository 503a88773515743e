// The outcome of an attempt, judged by the receiver's response or by the error that came instead of one.

import type { AttemptError } from "../../contracts/webhook.ts";
import { realNow } from "../../kernel/clock.ts";
import { mask } from "../../kernel/mask.ts";

export interface Outcome {
  /** Null when there was no response. */
  responseStatus: number | null;
  responseBody: string | null;
  responseTruncated: boolean;
  retryAfter: string | undefined;
  /** Null when the receiver accepted the delivery. */
  errorCode: AttemptError | null;
  errorMessage: string | null;
  /** When the request was handed to the HTTP client. Real milliseconds, like `duration`. */
  began: number;
  duration: number;
}

export type OutcomeError = Pick<Outcome, "errorCode" | "errorMessage">;

/** The part of a response that has been read so far. */
export type PartialResponse = Pick<Outcome, "retryAfter"> & { status: number | null; chunks: Buffer[]; size: number };

/** How many bytes of a response body the log keeps. */
const MAX_LOGGED_BODY = 4_096;
/** Bytes of a response body that are searched for secrets: more than the log keeps, so that a secret at the end is found whole. */
export const MAX_MASKED_BODY = 2 * MAX_LOGGED_BODY;

export const noResponse = (): PartialResponse => ({ status: null, retryAfter: undefined, chunks: [], size: 0 });

/** The outcome of an attempt that ends now; its duration is 0 if nothing was sent. */
export function outcomeOf(response: PartialResponse, error: OutcomeError, began = realNow()): Outcome {
  const { status, retryAfter, chunks, size } = response;
  return {
    responseStatus: status,
    responseBody: status === null ? null : loggedBody(chunks),
    responseTruncated: size > MAX_LOGGED_BODY,
    retryAfter,
    ...error,
    began,
    // Rounded here, so that the stream, the log and the dashboard show the same value.
    duration: Math.round((realNow() - began) * 1_000) / 1_000,
  };
}

/** Only 2xx accepts a delivery. */
export function judgeStatus(status: number): OutcomeError {
  if (status >= 200 && status < 300) return { errorCode: null, errorMessage: null };
  if (status >= 300 && status < 400)
    return failure("redirect_not_followed", `The receiver answered ${status}; redirects are not followed. Register the final address.`);
  return failure("http_status", `The receiver answered ${status}; only 2xx accepts a delivery.`);
}

export const failure = (errorCode: AttemptError, errorMessage: string): OutcomeError => ({ errorCode, errorMessage });

/** Created once: creating a decoder costs more than decoding the body of most responses. */
const decoder = new TextDecoder();

/** The beginning of the body as text, its secrets masked. */
function loggedBody(chunks: Buffer[]): string {
  if (chunks.length === 0) return "";
  const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
  const logged = decodeStart(bytes, MAX_LOGGED_BODY);
  return mask(bytes.length > MAX_LOGGED_BODY ? decodeStart(bytes, MAX_MASKED_BODY) : logged, logged.length);
}

/** Decodes the first `limit` bytes, and leaves out a character that the limit would split. */
function decodeStart(bytes: Buffer, limit: number): string {
  const text = decoder.decode(bytes.subarray(0, limit), { stream: true });
  // Resets the decoder, which still holds the bytes of a character that was cut.
  decoder.decode();
  return text;
}
