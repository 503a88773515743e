// Finds a request's operation, in the API or the control API: exact paths first, then paths with parameters.

import { didYouMean } from "../kernel/did-you-mean.ts";
import { fail } from "../kernel/errors.ts";
import { grouped } from "../kernel/grouped.ts";
import { mask } from "../kernel/mask.ts";
import type { Behaviour } from "../schema/assumed.ts";
import type { Operation } from "../store/operation-context.ts";
import type { RequestContext, Stage } from "./context.ts";

export const API_PREFIX = "/v1";

/** Whether a request target belongs to the emulated API. All other targets belong to the sandbox itself. */
export const isApiPath = (target = "") =>
  target === API_PREFIX || target.startsWith(`${API_PREFIX}/`) || target.startsWith(`${API_PREFIX}?`);

interface Route<Target> {
  path: string;
  segments: Segment[];
  byMethod: Map<string, Target>;
}

/** One path segment: fixed text, or a named parameter. */
type Segment = { text: string } | { name: string };

const isParameter = (segment: Segment): segment is { name: string } => "name" in segment;

export function route(catalogue: readonly Operation[]): Stage {
  const { find, paths } = createRouter(API_PREFIX, catalogue);
  return (context) => {
    context.operation = find(context) ?? refuse(context.path, paths);
  };
}

type RoutedRequest = Pick<RequestContext, "path" | "incoming" | "params">;

export function createRouter<Target extends { method: string; path: string }>(
  prefix: string,
  targets: readonly Target[],
) {
  const routes = new Map<string, Route<Target>>();
  for (const target of targets) {
    const path = prefix + target.path;
    const known = routes.get(path) ?? { path, segments: path.split("/").map(readSegment), byMethod: new Map() };
    known.byMethod.set(target.method, target);
    routes.set(path, known);
  }
  const patterns = grouped([...routes.values()].filter(hasParameter), ({ segments }) => segments.length);
  const exact = new Map([...routes].filter(([, found]) => !hasParameter(found)));
  return {
    paths: [...routes.keys()],
    /**
     * Finds the target by path and method, and sets the request's parameters. Undefined for an unknown path; fails for
     * an unknown method.
     */
    find(context: RoutedRequest): Target | undefined {
      const found = exact.get(context.path) ?? match(patterns, context);
      const method = context.incoming.method === "HEAD" ? "GET" : (context.incoming.method ?? "");
      return found && (found.byMethod.get(method) ?? refuseMethod(context.incoming.method ?? "", found));
    },
  };
}

const hasParameter = ({ segments }: Pick<Route<unknown>, "segments">) => segments.some(isParameter);

const readSegment = (text: string): Segment => (text.startsWith("{") ? { name: text.slice(1, -1) } : { text });

/** `patterns` has the routes with parameters by their number of segments. */
function match<Target>(
  patterns: ReadonlyMap<number, readonly Route<Target>[]>,
  context: RoutedRequest,
): Route<Target> | undefined {
  const received = context.path.split("/");
  const found = patterns
    .get(received.length)
    ?.find(({ segments }) => segments.every((one, index) => matchesSegment(one, received[index])));
  try {
    found?.segments.forEach((segment, index) => {
      if (isParameter(segment)) context.params[segment.name] = decodeURIComponent(received[index] as string);
    });
  } catch {
    return undefined;
  }
  return found;
}

const matchesSegment = (segment: Segment, received: string | undefined) =>
  isParameter(segment) ? received !== "" : segment.text === received;

function refuse(path: string, known: readonly string[]): never {
  const trimmed = path.replace(/\/+/g, "/").replace(/(.)\/$/, "$1");
  // As in /v1/payroll for /v1/employees/payroll.
  const sameEnd = known.find((one) => one.endsWith(path.slice(path.lastIndexOf("/"))));
  const hint =
    trimmed !== path && known.includes(trimmed)
      ? ` Paths are taken literally: drop the extra slash and use ${trimmed}.`
      : path.startsWith(`${API_PREFIX}/`)
        ? didYouMean(sameEnd ?? path, known)
        : ` Every operation is under ${API_PREFIX}, as in ${API_PREFIX}/payments.`;
  fail("route_not_found", `No operation has the path ${mask(path, 200)}.${hint}`);
}

function refuseMethod(method: string, found: Route<unknown>): never {
  const allowed = [...found.byMethod.keys()].flatMap((name) => (name === "GET" ? ["GET", "HEAD"] : [name]));
  fail(
    "method_not_allowed",
    `${found.path} takes ${allowed.join(", ")}; received ${method}.`,
    { allowed },
    { Allow: allowed.join(", ") },
  );
}

export const behaviours: Behaviour[] = [
  {
    id: "http.paths",
    fact: "Paths are compared literally: another case, a trailing or doubled slash gets 404, another method 405 with `Allow`. `HEAD` works where `GET` does. Only `/v1` exists.",
    why: "The service's documentation gives one version prefix and no rule for other spellings; rejecting them is the stricter reading.",
  },
];
