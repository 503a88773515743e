// Derives the outcome of an attempt from the receiver's response, or from the error if there was none. Errors of
// sockets, TLS and undici get codes and messages that are the same in every run.

import type { AttemptError } from "../../contracts/webhook.ts";
import { realNow } from "../../kernel/clock.ts";
import { mask } from "../../kernel/mask.ts";
import { TARGET_NOT_ALLOWED } from "./target-policy.ts";

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
/**
 * Bytes of a response body that are searched for secrets: more than the log keeps, so that a secret at the end is found
 * whole.
 */
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
    return failure(
      "redirect_not_followed",
      `The receiver answered ${status}; redirects are not followed. Register the final address.`,
    );
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

const REFUSED = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL", "EAFNOSUPPORT"]);
const UNRESOLVED = new Set(["ENOTFOUND", "EAI_AGAIN", "EAI_FAIL", "EAI_NODATA"]);

export function explainNetworkError(thrown: unknown, host: string): OutcomeError {
  const error = rootCause(thrown);
  const { code, message } = error;
  if (code === TARGET_NOT_ALLOWED) return failure("target_not_allowed", `${message}.`);
  if (REFUSED.has(code)) return failure("connection_refused", `Nothing listens at ${host} (${code}).`);
  if (UNRESOLVED.has(code)) return failure("dns", `The name ${host} could not be resolved (${code}).`);
  if (/TIMEDOUT|_TIMEOUT$/.test(code)) return failure("timeout", `The connection to ${host} did not open in time.`);
  if (/^ERR_(TLS|SSL)|CERT|^EPROTO$|UNABLE_TO_/.test(code))
    return failure("tls", `TLS with ${host} failed (${code}). A self-signed certificate needs --webhook-insecure-tls.`);
  const malformation = malformationOf(error);
  if (malformation !== undefined)
    return failure("reset", `The response of ${host} is not valid HTTP/1.1: ${malformation}.`);
  return failure("reset", `The connection to ${host} closed before the response was complete.`);
}

interface NetworkError {
  name: string;
  code: string;
  message: string;
}

/** When every address of a name fails, the first error counts. */
function rootCause(thrown: unknown): NetworkError {
  const error = thrown as Partial<NetworkError> & { errors?: unknown[] };
  const first = (error.errors?.[0] ?? error) as Partial<NetworkError>;
  return {
    name: String(first.name ?? ""),
    code: String(first.code ?? error.code ?? ""),
    message: String(first.message ?? ""),
  };
}

/** The defect of a response that undici rejects; undefined if the error has another cause. */
function malformationOf({ name, code, message }: NetworkError): string | undefined {
  if (name === "HTTPParserError") return parserReason(message);
  if (code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH") return "its body is not as long as its Content-Length";
  if (code === "UND_ERR_HEADERS_OVERFLOW") return "its headers are longer than 16 KiB";
  if (message === "bad response") return "it sends 100 Continue, which the request does not ask for";
  if (message === "bad upgrade") return "it switches to another protocol";
  // undici checks some statuses below 200 with an assertion only.
  return code === "ERR_ASSERTION" ? "its status is not one that answers a request" : undefined;
}

/** The message of undici's parser ends with its reason in brackets. */
function parserReason(message: string): string {
  const reason = /\(([^()]+)\)$/.exec(message)?.[1] ?? "it cannot be parsed";
  if (reason.startsWith("Expected HTTP/")) return "it does not start with HTTP/1.1";
  return reason.charAt(0).toLowerCase() + reason.slice(1).replace(/ char$/, " character");
}
