// Observations from refused calls that no operation has: paths and methods that neither the sandbox nor the service knows.

import { routeConditions, type StrayCall } from "./conditions.ts";
import type { CallPattern } from "./find-base.ts";
import type { ObservationLog } from "./observations.ts";
import { observeError, type Unexplained } from "./observe-refusals.ts";
import { isObject, refused } from "./recording.ts";

/** Refused for its caller, who may be allowed to call an endpoint that the sandbox does not have. */
const FOR_THE_CALLER = new Set([401, 403, 429]);

/** `endpointOf` names the method and the path of a call without its ids. */
export function observeRoutes(
  strays: readonly StrayCall[],
  endpointOf: (call: StrayCall) => string,
  routes: readonly CallPattern[],
  log: ObservationLog,
): Unexplained[] {
  const codeOf = ({ exchange: { response } }: StrayCall) =>
    isObject(response) && typeof response.code === "string" ? log.shown.code(response.code) : "";
  const responses = new Map<string, Set<string>>();
  for (const call of strays) {
    const known = responses.get(endpointOf(call)) ?? new Set<string>();
    responses.set(endpointOf(call), known.add(`${call.exchange.status} ${codeOf(call)}`));
  }
  return strays.flatMap((call) => {
    const { exchange } = call;
    if (!refused(exchange)) return [];
    const endpoint = endpointOf(call);
    const isAlways = responses.get(endpoint)?.size === 1 && !FOR_THE_CALLER.has(exchange.status);
    const condition = Object.entries(routeConditions).find(([, rule]) => isAlways && rule.applies(call, endpoint, routes))?.[0];
    if (condition === undefined) return { operation: endpoint, status: exchange.status, code: codeOf(call) };
    observeError(condition, exchange, { log, entry: exchange.entry });
    return [];
  });
}
