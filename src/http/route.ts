// Finds the operation of a request in the catalogue: exact paths first, then paths with parameters.

import { didYouMean } from "../kernel/did-you-mean.ts";
import { fail } from "../kernel/errors.ts";
import { mask } from "../kernel/mask.ts";
import type { Behaviour } from "../schema/assumed.ts";
import type { Operation } from "../store/operation-context.ts";
import type { RequestContext, Stage } from "./context.ts";

export const API_PREFIX = "/v1";

/** Whether a request target belongs to the emulated API; every other target belongs to the sandbox itself. */
export const isApiPath = (target = "") =>
  target === API_PREFIX || target.startsWith(`${API_PREFIX}/`) || target.startsWith(`${API_PREFIX}?`);

interface Route {
  path: string;
  segments: Segment[];
  byMethod: Map<string, Operation>;
}

/** One path segment: fixed text, or a named parameter. */
type Segment = { text: string } | { name: string };

const isParameter = (segment: Segment): segment is { name: string } => "name" in segment;

export function route(catalogue: readonly Operation[]): Stage {
  const routes = collect(catalogue);
  const patterns = [...routes.values()].filter(({ segments }) => segments.some(isParameter));
  const exact = new Map([...routes].filter(([, found]) => !patterns.includes(found)));

  return (context) => {
    const found = exact.get(context.path) ?? match(patterns, context);
    if (!found) return refuse(context.path, [...routes.keys()]);
    const method = context.incoming.method === "HEAD" ? "GET" : (context.incoming.method ?? "");
    const operation = found.byMethod.get(method);
    if (!operation) return refuseMethod(context.incoming.method ?? "", found);
    context.operation = operation;
  };
}

function collect(catalogue: readonly Operation[]): Map<string, Route> {
  const routes = new Map<string, Route>();
  for (const operation of catalogue) {
    const path = API_PREFIX + operation.path;
    const known = routes.get(path) ?? { path, segments: path.split("/").map(readSegment), byMethod: new Map() };
    known.byMethod.set(operation.method, operation);
    routes.set(path, known);
  }
  return routes;
}

const readSegment = (text: string): Segment => (text.startsWith("{") ? { name: text.slice(1, -1) } : { text });

function match(patterns: readonly Route[], context: RequestContext): Route | undefined {
  const received = context.path.split("/");
  const found = patterns.find(
    ({ segments }) => segments.length === received.length && segments.every((one, index) => matchesSegment(one, received[index])),
  );
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

function refuse(path: string, known: string[]): never {
  const trimmed = path.replace(/\/+/g, "/").replace(/(.)\/$/, "$1");
  const hint =
    trimmed !== path && known.includes(trimmed)
      ? ` Paths are taken literally: drop the extra slash and use ${trimmed}.`
      : path.startsWith(`${API_PREFIX}/`)
        ? didYouMean(path, known)
        : ` Every operation is under ${API_PREFIX}, as in ${API_PREFIX}/payments.`;
  fail("route_not_found", `No operation has the path ${mask(path, 200)}.${hint}`);
}

function refuseMethod(method: string, found: Route): never {
  const allowed = [...found.byMethod.keys()].flatMap((name) => (name === "GET" ? ["GET", "HEAD"] : [name]));
  fail("method_not_allowed", `${found.path} takes ${allowed.join(", ")}; received ${method}.`, { allowed }, { Allow: allowed.join(", ") });
}

export const behaviours: Behaviour[] = [
  {
    id: "http.paths",
    fact: "Paths are compared literally: another case, a trailing or doubled slash gets 404, another method 405 with `Allow`. `HEAD` works where `GET` does. Only `/v1` exists.",
    why: "The service's documentation gives one version prefix and no rule for other spellings; rejecting them is the stricter reading.",
  },
];
