// CORS: allows pages from the origins in --allowed-origin to use the API under /v1 and to read its OpenAPI document.

import type { IncomingMessage, ServerResponse } from "node:http";
import { CONTROL_PREFIX } from "../contracts/paths.ts";
import { fail } from "../kernel/errors.ts";
import { contextOf, type Stage } from "./context.ts";
import { isApiPath } from "./request-target.ts";

export type Cors = NonNullable<ReturnType<typeof createCors>>;

const OPENAPI_PATH = `${CONTROL_PREFIX}/openapi.json`;
const METHODS = "GET, HEAD, POST, PATCH, DELETE";
/** The headers that API clients usually send. A preflight also allows the headers that it names. */
const REQUEST_HEADERS = ["Authorization", "Content-Type", "Idempotency-Key"];
/** Seconds for which a browser caches a preflight. */
const MAX_AGE = "600";

/**
 * Undefined without allowed origins. Scripts can read the headers of `readable`; without the list, a browser exposes
 * only a few standard headers.
 */
export function createCors(origins: readonly string[], readable: readonly string[]) {
  if (origins.length === 0) return undefined;
  const exposed = ["Allow", "Date", ...readable].join(", ");
  const responseHeaders = new Map(
    origins.map((origin) => [
      origin,
      { "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": exposed, Vary: "Origin" },
    ]),
  );
  const headers = ({ url, headers: { origin } }: IncomingMessage) =>
    isShared(url)
      ? ((origin === undefined ? undefined : responseHeaders.get(origin)) ?? { Vary: "Origin" })
      : undefined;
  return {
    /** The CORS headers of the response; undefined where CORS does not apply. */
    headers,
    /** Whether a page of this origin may send the request. */
    allows: (origin: string, { url }: IncomingMessage) => isShared(url) && responseHeaders.has(origin),
    /** Whether the request is a preflight from an allowed origin. */
    isPreflight: ({
      method,
      url,
      headers: { origin = "", "access-control-request-method": wanted },
    }: IncomingMessage) => method === "OPTIONS" && wanted !== undefined && isShared(url) && responseHeaders.has(origin),
    /** Responds to a preflight request that the guard has admitted. */
    grantPreflight({ headers: sent }: IncomingMessage, outgoing: ServerResponse) {
      outgoing.writeHead(204, {
        "Access-Control-Allow-Origin": sent.origin,
        "Access-Control-Allow-Methods": METHODS,
        "Access-Control-Allow-Headers": allowedHeaders(sent["access-control-request-headers"]),
        "Access-Control-Max-Age": MAX_AGE,
        ...(sent["access-control-request-private-network"] === "true"
          ? { "Access-Control-Allow-Private-Network": "true" }
          : {}),
        Vary: "Origin, Access-Control-Request-Headers, Access-Control-Request-Private-Network",
      });
      outgoing.end();
    },
  };
}

/**
 * Rejects operations that no web page may call, even from an allowed origin. If a page could register an endpoint, it
 * could make the sandbox send a request to any server on this machine, and read the response in the delivery log.
 */
export const refusePages: Stage = (request, _response, next) => {
  const { operation, headers } = contextOf(request);
  if (operation?.notFromPages && headers["Access-Control-Allow-Origin"] !== undefined)
    fail(
      "origin_not_allowed",
      `${operation.id} rejects calls from web pages, even from an origin in --allowed-origin. ` +
        "Call it from your server, or use --endpoints <url>.",
    );
  next();
};

const isShared = (url = "") => isApiPath(url) || url.split("?")[0] === OPENAPI_PATH;

function allowedHeaders(requested = ""): string {
  const known = new Set(REQUEST_HEADERS.map((name) => name.toLowerCase()));
  const names = requested.split(",").map((name) => name.trim());
  const others = names.filter((name) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && !known.has(name.toLowerCase()));
  return [...REQUEST_HEADERS, ...others].join(", ");
}
