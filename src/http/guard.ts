// The Host and Origin checks: a request must name this machine as its host, and come from no web page of another origin.
// They stop web pages in the developer's browser (DNS rebinding, cross-site requests), which can reach loopback as well.

import type { IncomingMessage } from "node:http";
import { fail } from "../kernel/errors.ts";
import { once } from "../kernel/once.ts";
import { headerOnce } from "./context.ts";

export interface Guard {
  /** Throws 403 unless Host and Origin are allowed. HTTP requests and WebSocket upgrades use the same check. */
  check(incoming: IncomingMessage): void;
}

const MAX_TARGET = 2_048;

/** `extraHosts` are further host names: plain for the sandbox's own port, or with another port, such as the one that a container publishes. */
export function createGuard(port: () => number, extraHosts: readonly string[], allowedOrigins: readonly string[]): Guard {
  const names = [...new Set(["localhost", "127.0.0.1", "[::1]", ...extraHosts.map((host) => host.toLowerCase())])];
  const authorities = once(() => [
    ...names.map((name) => (/:\d+$/.test(name) ? name : `${name}:${port()}`)),
    // Clients omit port 80 from Host.
    ...(port() === 80 ? names : []),
  ]);
  const isAllowedHost = (authority: string) => authorities().includes(authority);
  return {
    check(incoming) {
      const target = incoming.url ?? "";
      if (!target.startsWith("/"))
        fail("host_not_allowed", "The request target must be a path, such as /v1/payments; a full URL in the request line is not served.");
      if (target.length > MAX_TARGET)
        fail("uri_too_long", `The request target has ${target.length} characters; at most ${MAX_TARGET} are read.`);
      const host = headerOnce(incoming, "host");
      if (typeof host !== "string" || !isAllowedHost(host.toLowerCase()))
        fail(
          "host_not_allowed",
          `This sandbox answers to ${authorities().join(", ")}; received Host ${quote(host)}. Allow another with --allowed-host <name>, or NAME:PORT.`,
        );
      const origin = headerOnce(incoming, "origin");
      if (origin === undefined) return;
      if (
        typeof origin !== "string" ||
        !(allowedOrigins.includes(origin) || (origin.startsWith("http://") && isAllowedHost(origin.slice("http://".length))))
      )
        fail(
          "origin_not_allowed",
          `Web pages of other origins may not use this sandbox; received Origin ${quote(origin)}. Call it from your server, not from the browser.`,
        );
    },
  };
}

const quote = (value: string | string[] | undefined) => (value === undefined ? "none" : JSON.stringify(value).slice(0, 200));
