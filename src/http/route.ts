// Adds the routes of the API and the control API to Express's router from their declarations. Adds 404 with a hint for
// other paths, and 405 for other methods.

import type { IncomingMessage, ServerResponse } from "node:http";
import { type Request, type Response, Router } from "express";
import { API_PREFIX, CONTROL_PREFIX } from "../contracts/paths.ts";
import { closestMatch } from "../kernel/did-you-mean.ts";
import { fail } from "../kernel/errors.ts";
import { grouped } from "../kernel/grouped.ts";
import { mask } from "../kernel/mask.ts";
import { PROGRAM } from "../kernel/program-name.ts";
import type { Behaviour } from "../schema/assumed.ts";
import { contextOf, type Next, type RequestContext, type Stage } from "./context.ts";

/** Paths are literal: another case, or a slash at the end, is another path. */
export const openRouter = () => Router({ caseSensitive: true, strict: true });

/**
 * Runs stages one after another in one layer of Express's router. A layer for each stage would make a GET a third
 * slower.
 */
export function inTurn(...stages: Stage[]): Stage {
  return (request, response, next) => {
    let started = 0;
    const run = (error?: unknown): void => {
      const stage = stages[started++];
      if (error !== undefined || stage === undefined) next(error);
      else runStage(stage, request, response, run, next);
    };
    run();
  };
}

/** Runs one stage, and passes its error to the error handler. */
function runStage(stage: Stage, request: IncomingMessage, response: ServerResponse, next: Next, failed: Next): void {
  try {
    stage(request, response, next)?.catch(failed);
  } catch (error) {
    failed(error);
  }
}

/** The paths of these declarations, with parameters in braces. */
export const pathsOf = (prefix: string, targets: readonly { path: string }[]) => [
  ...new Set(targets.map(({ path }) => prefix + path)),
];

/**
 * Adds a route for each declaration, exact paths before paths with parameters, and 405 for the other methods of each
 * path.
 */
export function addRoutes<Target extends { method: string; path: string; lists?: string }>(
  router: Router,
  prefix: string,
  targets: readonly Target[],
  stageOf: (target: Target) => Stage,
): void {
  const byPath = grouped(targets, ({ path }) => prefix + path);
  for (const [path, found] of [...byPath].sort(
    ([one], [other]) => Number(hasParameter(one)) - Number(hasParameter(other)),
  )) {
    const route = router.route(path.replaceAll(/\{(\w+)\}/g, ":$1"));
    for (const target of found) route[target.method.toLowerCase() as "get"](withParams(stageOf(target)));
    const methods = found.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
    const kind = found.find(({ lists }) => lists !== undefined)?.lists;
    // Without `route.all`, the router would answer OPTIONS itself.
    route.all((request) => refuseMethod(request.method, path, methods, kind));
  }
}

const hasParameter = (path: string) => path.includes("{");

const withParams = (stage: Stage) => (request: Request, response: Response, next: Next) => {
  contextOf(request).params = request.params as Record<string, string>;
  return stage(request, response, next);
};

interface RouterEnd {
  /** Throws 404. */
  refuse: (context: RequestContext) => never;
  /** Replies to a request that failed. */
  failed: (context: RequestContext, error: unknown) => void;
}

/**
 * Adds the last layers: 404 for a path without a route, and the replies to failed requests. Returns the listener for
 * Node's requests. Uses no Express app, which would cost several times the rest of a request.
 */
export function closeRouter(
  router: Router,
  { refuse, failed }: RouterEnd,
): (request: IncomingMessage, response: ServerResponse) => void {
  router.use((request) => refuse(contextOf(request)));
  router.use((error: unknown, request: IncomingMessage, _response: unknown, next: Next) => {
    if (isUndecodable(error)) refuse(contextOf(request));
    next(error);
  });
  router.use((error: unknown, request: IncomingMessage, _response: unknown, _next: Next) =>
    failed(contextOf(request), error),
  );
  const listener = router as unknown as Stage;
  return (request, response) =>
    void listener(request, response, (error) => failed(contextOf(request), error ?? new Error("no layer responded")));
}

/** Whether a parameter is not percent-encoded UTF-8, such as %zz. No route has such a path. */
const isUndecodable = (error: unknown) => error instanceof URIError && (error as { status?: number }).status === 400;

/**
 * Characters that make Express parse a target as a browser would: it then drops a fragment, trims spaces and turns
 * backslashes into slashes.
 */
const READ_AS_URL = /[\t\n\f\r #\u00a0\ufeff]/;

/** Rejects a path that Express would change before looking for its route. */
export const requireLiteralPath =
  (refuse: RouterEnd["refuse"]): Stage =>
  (request, _response, next) => {
    if (READ_AS_URL.test(request.url ?? "")) {
      const context = contextOf(request);
      if (READ_AS_URL.test(context.path) || context.path.includes("\\")) refuse(context);
    }
    next();
  };

/** Throws 404 for a path under /v1 that no operation has. */
export function refusePath(path: string, known: readonly string[]): never {
  fail("route_not_found", `No operation has the path ${mask(path, 200)}.${pathHint(path, known)}`);
}

function pathHint(path: string, known: readonly string[]): string {
  const trimmed = path.replace(/\/+/g, "/").replace(/(.)\/$/, "$1");
  if (trimmed !== path && known.includes(trimmed))
    return ` Paths are taken literally: drop the extra slash and use ${trimmed}.`;
  if (trimmed === API_PREFIX || !path.startsWith(`${API_PREFIX}/`))
    return ` Every operation is under ${API_PREFIX}, as in ${API_PREFIX}/payments.`;
  // A known path with the same last segment: /v1/employees/payroll for /v1/payroll.
  const sameEnd = known.find((one) => one.endsWith(path.slice(path.lastIndexOf("/"))));
  const below = known.filter((one) => one.startsWith(`${path}/`));
  if (sameEnd === undefined && below.length > 0) return ` Operations below it: ${below.join(", ")}.`;
  const parent = path.slice(0, path.lastIndexOf("/"));
  const guess = sameEnd ?? closestIn(parent, path, known);
  if (!known.includes(parent) || (guess !== undefined && guess !== parent))
    return guess === undefined ? "" : ` Did you mean ${guess}?`;
  const record = `${CONTROL_PREFIX}/records/{kind}/{id}`;
  return ` Did you mean ${parent}? It has no path for a single record; GET ${record} returns one.`;
}

/** The hint for a client that tries to create a record of a kind that the service only lists. */
const creationHint = (kind: string) =>
  ` No operation creates these records: use \`${PROGRAM} make ${kind}\` or POST ${CONTROL_PREFIX}/records/${kind}.`;

/**
 * The closest path. Paths in the same folder share most of their characters, such as `/v1/hospitality/`, so their last
 * segments must be close too.
 */
function closestIn(folder: string, path: string, known: readonly string[]): string | undefined {
  const guess = closestMatch(path, known);
  if (guess === undefined || guess.slice(0, guess.lastIndexOf("/")) !== folder) return guess;
  return closestMatch(path.slice(folder.length), [guess.slice(folder.length)]) && guess;
}

function refuseMethod(method: string, path: string, allowed: readonly string[], kind?: string): never {
  const hint = method === "POST" && kind !== undefined ? creationHint(kind) : "";
  fail(
    "method_not_allowed",
    `${path} takes ${allowed.join(", ")}; received ${method}.${hint}`,
    { allowed },
    { Allow: allowed.join(", ") },
  );
}

export const behaviours: Behaviour[] = [
  {
    id: "http.paths",
    fact:
      "Paths are compared literally: another case, a trailing or doubled slash gets 404, " +
      "another method 405 with `Allow`. `HEAD` works where `GET` does. Only `/v1` exists.",
    why:
      "The service's documentation gives one version prefix and no rule for other spellings; " +
      "rejecting them is the stricter reading.",
  },
];
