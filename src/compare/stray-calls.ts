// Observations from refused calls that no operation has: paths and methods that neither the sandbox nor the service knows.

import type { CallPattern } from "./find-base.ts";
import type { ObservationLog } from "./observations.ts";
import { codeIn, observeError, type Unexplained } from "./observe-refusals.ts";
import { grouped, type RecordedExchange, refused } from "./recording.ts";

/** A call below the base address that matches no operation. */
export interface StrayCall {
  exchange: RecordedExchange;
  path: string;
  /** The method, and the path without its ids. */
  endpoint: string;
}

/** Statuses of refusals for the caller, who may be allowed to call an endpoint that the sandbox does not have. */
const FOR_THE_CALLER = new Set([401, 403, 429]);

/** A path or a method is unknown to the service only if it refuses each call of it in the same way: otherwise it may have the endpoint. */
export function observeRoutes(strays: readonly StrayCall[], routes: readonly CallPattern[], log: ObservationLog): Unexplained[] {
  const answerOf = ({ exchange: { status, response } }: StrayCall) => `${status} ${codeIn(response, log.shown)}`;
  return [...grouped(strays, ({ endpoint }) => endpoint)].flatMap(([endpoint, calls]) => {
    const isAlways = new Set(calls.map(answerOf)).size === 1;
    return calls.flatMap(({ exchange, path }) => {
      if (!refused(exchange)) return [];
      const { status, response, entry } = exchange;
      const hasPath = routes.some(({ pattern }) => pattern.test(path));
      const isUnknown = isAlways && !FOR_THE_CALLER.has(status) && (hasPath || !endpoint.includes("{id}"));
      if (!isUnknown) return { operation: endpoint, status, code: codeIn(response, log.shown) };
      observeError(hasPath ? "method_not_allowed" : "route_not_found", exchange, { log, entry });
      return [];
    });
  });
}
