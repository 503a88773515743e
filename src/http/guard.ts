// The Host and Origin checks: a request must name this machine as its host, and must not come from a web page of
// another origin. Without them, web pages in the developer's browser could call a sandbox on loopback (DNS rebinding,
// cross-site requests).

import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { succeeds } from "../kernel/attempt.ts";
import { memoize } from "../kernel/bounded-cache.ts";
import { fail } from "../kernel/errors.ts";
import { mask } from "../kernel/mask.ts";
import { MAX_TARGET } from "../kernel/request-limits.ts";
import { contextOf, headerOnce, type RequestContext, type Stage } from "./context.ts";
import type { Cors } from "./cors.ts";
import { isApiPath } from "./request-target.ts";

export type Guard = ReturnType<typeof createGuard>;

interface GuardOptions {
  /** The port of the server that received a request; undefined if the request did not come over a network. */
  port: (incoming: IncomingMessage) => number | undefined;
  /**
   * Whether requests from other machines are refused (default: false). A server that listens on loopback gets no such
   * requests.
   */
  isLocalOnly?: boolean;
  /**
   * Further host names, with the sandbox's own port or with an explicit one, such as the port that a container
   * publishes.
   */
  extraHosts: readonly string[];
  /** Undefined if no other origin may use the API from a browser. */
  cors: Cors | undefined;
}

export function createGuard({ port, isLocalOnly = false, extraHosts, cors }: GuardOptions) {
  const names = [...new Set(["localhost", "127.0.0.1", "[::1]", ...extraHosts.map((host) => host.toLowerCase())])];
  const authoritiesAt = memoize(MAX_PORTS, (scheme) => {
    const [protocol = "", at = ""] = scheme.split(":");
    return [
      ...names.map((name) => (/:\d+$/.test(name) ? name : `${name}:${at}`)),
      // Clients omit the default port from Host.
      ...(at === DEFAULT_PORTS[protocol] ? names : []),
    ];
  });
  const schemeOf = ({ socket }: IncomingMessage) => ((socket as { encrypted?: boolean }).encrypted ? "https" : "http");
  const authoritiesOf = (incoming: IncomingMessage) => {
    const scheme = schemeOf(incoming);
    return authoritiesAt(`${scheme}:${port(incoming) ?? DEFAULT_PORTS[scheme]}`);
  };
  const isOwnOrigin = (origin: string, incoming: IncomingMessage) => {
    const own = `${schemeOf(incoming)}://`;
    return origin.startsWith(own) && authoritiesOf(incoming).includes(origin.slice(own.length));
  };
  const checkOrigin = (incoming: IncomingMessage) => {
    const origin = headerOnce(incoming, "origin");
    if (origin === undefined) {
      checkSite(incoming);
      return checkBrowser(incoming);
    }
    if (typeof origin === "string" && (isOwnOrigin(origin, incoming) || cors?.allows(origin, incoming))) return;
    fail(
      "origin_not_allowed",
      `Web pages of other origins may not use this sandbox; received Origin ${quote(origin)}. ` +
        "Call it from your server, or allow the page to use the API under /v1 with --allowed-origin <origin>.",
    );
  };
  /**
   * Throws 403 unless Host and Origin are allowed, for HTTP requests and WebSocket upgrades. Returns the CORS headers
   * of the response; undefined if there are none.
   */
  const check = (incoming: IncomingMessage): Record<string, string> | undefined => {
    if (!incoming.url?.startsWith("/"))
      fail(
        "host_not_allowed",
        "The request target must be a path, such as /v1/payments; a full URL in the request line is not served.",
      );
    if (isLocalOnly) requireLocal(incoming);
    const host = headerOnce(incoming, "host");
    if (typeof host !== "string" || !authoritiesOf(incoming).includes(host.toLowerCase()))
      fail(
        "host_not_allowed",
        `This sandbox answers to ${authoritiesOf(incoming).join(", ")}; received Host ${quote(host)}. ` +
          "Allow another with --allowed-host <name>, or NAME:PORT.",
      );
    checkOrigin(incoming);
    return cors?.headers(incoming);
  };
  /** Whether `check` would pass. */
  const allows = (incoming: IncomingMessage) => succeeds(() => check(incoming));
  return { check, allows };
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: "80", https: "443" };
/** An app that a sandbox is mounted in may listen on several ports. */
const MAX_PORTS = 20;

/** Rejects a request from another machine. An app that listens on every address passes on such requests too. */
function requireLocal({ socket: { remoteAddress } }: IncomingMessage): void {
  if (remoteAddress === undefined || /^(::ffff:)?127\.|^::1$/.test(remoteAddress)) return;
  fail(
    "host_not_allowed",
    `This sandbox serves programs of its own machine; received a request from ${remoteAddress}. ` +
      'Create it with { host: "0.0.0.0", allowedHost: ["<name>"] } to serve other machines, which then need its ' +
      "control token.",
  );
}

/**
 * Rejects requests that a page of another origin makes without an Origin header, such as requests for an image or a
 * frame, or a fetch with `no-cors`. Following a link is allowed.
 */
function checkSite({ method, headers }: IncomingMessage): void {
  const site = headers["sec-fetch-site"];
  if (site === undefined || site === "none" || site === "same-origin" || (method === "GET" && isNavigation(headers)))
    return;
  fail(
    "origin_not_allowed",
    `Web pages of other origins may not use this sandbox; received Sec-Fetch-Site ${quote(site)}. ` +
      "Call it from your server, not from the browser.",
  );
}

/**
 * Rejects requests under /v1 that a browser sends without naming the page, such as requests for an image of a page.
 * Browsers send Sec-Fetch-Site only to localhost, not to a name of `--allowed-host`. Such a request has no key, because
 * a page cannot add one without a preflight. Its User-Agent starts with `Mozilla`, like that of every browser.
 */
function checkBrowser({ url, headers }: IncomingMessage): void {
  if (headers["sec-fetch-site"] !== undefined || !isApiPath(url)) return;
  if (!/^mozilla\//i.test(headers["user-agent"] ?? "") || /^bearer /i.test(headers.authorization ?? "")) return;
  fail(
    "origin_not_allowed",
    "A browser sent this request without an API key, an Origin or Sec-Fetch-Site, " +
      "as an image of any web page would. " +
      "Call the sandbox from your server, or send `Authorization: Bearer sk_test_…`.",
  );
}

/** Whether the user follows a link. Excludes frames and prefetches, which a page can start without its user. */
const isNavigation = (headers: IncomingHttpHeaders) =>
  headers["sec-fetch-mode"] === "navigate" &&
  (headers["sec-fetch-dest"] ?? "document") === "document" &&
  headers["sec-purpose"] === undefined;

/**
 * The first stage: applies the guard, and then the limits on every request. `admitted` is called in between, so a
 * request that the guard rejects gets no number. Otherwise a web page could change the numbers of other requests.
 */
export const admit =
  (guard: Guard, admitted: (context: RequestContext) => void = () => {}): Stage =>
  (incoming, _response, next) => {
    const context = contextOf(incoming);
    const corsHeaders = guard.check(incoming);
    if (corsHeaders !== undefined) Object.assign(context.headers, corsHeaders);
    admitted(context);
    context.isAdmitted = true;
    const { length } = incoming.url ?? "";
    if (length > MAX_TARGET)
      fail("uri_too_long", `The request target has ${length} characters; at most ${MAX_TARGET} are read.`);
    const { expect } = incoming.headers;
    if (expect !== undefined && !isContinue(expect) && incoming.httpVersion === "1.1")
      fail(
        "expectation_failed",
        `The sandbox supports Expect: 100-continue only; received ${quote(expect)}. Leave the header out.`,
      );
    next();
  };

/** Whether the client waits for `100 Continue` before it sends the body. Uses Node's own comparison. */
const isContinue = (expect: string) => /(?:^|\W)100-continue(?:$|\W)/i.test(expect);

const quote = (value: string | string[] | undefined) =>
  value === undefined ? "none" : mask(JSON.stringify(value), 200);
