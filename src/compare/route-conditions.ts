// How the condition of a call that no operation has is recognised: its path or its method is unknown.

import type { ErrorCode } from "../kernel/errors.ts";
import type { CallPattern } from "./find-base.ts";
import type { RecordedExchange } from "./recording.ts";

/** A call below the base address that matches no operation. */
export interface StrayCall {
  exchange: RecordedExchange;
  path: string;
}

interface RouteRule {
  when: string;
  /** `endpoint` is the method and the path without its ids. */
  applies(call: StrayCall, endpoint: string, routes: readonly CallPattern[]): boolean;
}

/** Both hold only where the service refuses each call with this method and path in the same way: otherwise it may have the endpoint. */
export const routeConditions = {
  method_not_allowed: {
    when: "An operation has the path, but not the method, and each such call is refused in the same way.",
    applies: ({ path }, _, routes) => routes.some(({ pattern }) => pattern.test(path)),
  },
  route_not_found: {
    when: "No operation has the path, which contains no id, and each call of it is refused in the same way.",
    applies: (_, endpoint) => !endpoint.includes("{id}"),
  },
} satisfies Partial<Record<ErrorCode, RouteRule>>;
