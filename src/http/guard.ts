// Who may speak at all: requests that name this machine as their host, from no web page but our own.
// A web page in the developer's browser is the attacker here; loopback alone is no defence against it.

import type { IncomingMessage } from "node:http";
import { fail } from "../kernel/errors.ts";
import { once } from "../kernel/once.ts";
import { headerOnce } from "./context.ts";

export interface Guard {
  /** Throws 403 unless Host and Origin are ours. The same check serves requests and WebSocket upgrades. */
  check(incoming: IncomingMessage): void;
}

const MAX_TARGET = 2_048;

/** `extraHosts` are further names by which this sandbox may be reached: at its own port, or at one of theirs, as a container's is. */
export function createGuard(port: () => number, extraHosts: readonly string[], allowedOrigins: readonly string[]): Guard {
  const names = [...new Set(["localhost", "127.0.0.1", "[::1]", ...extraHosts.map((host) => host.toLowerCase())])];
  const authorities = once(() => [
    ...names.map((name) => (/:\d+$/.test(name) ? name : `${name}:${port()}`)),
    // Nobody writes the port that goes without saying.
    ...(port() === 80 ? names : []),
  ]);
  const isOurs = (authority: string) => authorities().includes(authority);
  return {
    check(incoming) {
      const target = incoming.url ?? "";
      if (!target.startsWith("/"))
        fail("host_not_allowed", "The request target must be a path, such as /v1/payments; a full URL in the request line is not served.");
      if (target.length > MAX_TARGET)
        fail("uri_too_long", `The request target has ${target.length} characters; at most ${MAX_TARGET} are read.`);
      const host = headerOnce(incoming, "host");
      if (typeof host !== "string" || !isOurs(host.toLowerCase()))
        fail(
          "host_not_allowed",
          `This sandbox answers to ${authorities().join(", ")}; received Host ${said(host)}. Allow another with --allowed-host <name>, or NAME:PORT.`,
        );
      const origin = headerOnce(incoming, "origin");
      if (origin === undefined) return;
      if (
        typeof origin !== "string" ||
        !(allowedOrigins.includes(origin) || (origin.startsWith("http://") && isOurs(origin.slice("http://".length))))
      )
        fail(
          "origin_not_allowed",
          `Web pages of other origins may not use this sandbox; received Origin ${said(origin)}. Call it from your server, not from the browser.`,
        );
    },
  };
}

const said = (value: string | string[] | undefined) => (value === undefined ? "none" : JSON.stringify(value).slice(0, 200));
