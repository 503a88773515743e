// Explains why an attempt got no complete response: maps errors of sockets, TLS and undici to codes and messages that are equal in every run.

import { failure, type OutcomeError } from "./outcome.ts";
import { TARGET_NOT_ALLOWED } from "./target-policy.ts";

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
  if (malformation !== undefined) return failure("reset", `The response of ${host} is not valid HTTP/1.1: ${malformation}.`);
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
  return { name: String(first.name ?? ""), code: String(first.code ?? error.code ?? ""), message: String(first.message ?? "") };
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
