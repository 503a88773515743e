// Handles every request outside /v1: the control API under /_sandbox, and 404 with a hint for any other path.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Document } from "../contracts/document.ts";
import type { Endpoint } from "../contracts/endpoint.ts";
import { CONTROL_PREFIX } from "../contracts/paths.ts";
import { type Clock, realNow } from "../kernel/clock.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { fail } from "../kernel/errors.ts";
import { factOf } from "../schema/assumed.ts";
import { isAbandoned, openContext, type RequestContext } from "./context.ts";
import type { Guard } from "./guard.ts";
import { readBody } from "./read-body.ts";
import { failureReply, send } from "./reply.ts";
import { runControlOperation, serializeReply } from "./run-control-operation.ts";

interface ControlHandlerOptions<World> {
  guard: Guard;
  clock: Clock;
  control: readonly Endpoint<World>[];
  world: World;
  /** Throws 403 unless the request may use the control API. */
  checkToken: (incoming: IncomingMessage) => void;
  report: (error: unknown, context: RequestContext) => void;
}

interface ControlRoute<World> {
  endpoint: Endpoint<World>;
  pattern: RegExp;
}

export function createControlHandler<World>(options: ControlHandlerOptions<World>) {
  const { guard, clock, control, world, checkToken, report } = options;
  const routes = control.map((endpoint) => ({ endpoint, pattern: patternOf(CONTROL_PREFIX + endpoint.path) }));

  async function answer(context: RequestContext): Promise<void> {
    guard.check(context.incoming);
    if (context.path === CONTROL_PREFIX || context.path.startsWith(`${CONTROL_PREFIX}/`)) checkToken(context.incoming);
    const { endpoint, pattern } = findRoute(routes, context);
    await run(endpoint, world, context, paramsOf(pattern, context.path));
  }

  return async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const started = realNow();
    const context = openContext(incoming, outgoing, 0, clock.now(), () => realNow() - started);
    try {
      await answer(context);
    } catch (error) {
      if (isAbandoned(context)) return;
      context.reply = failureReply(context, error, report);
    }
    if (context.reply) send(context, context.reply);
  };
}

/** `/records/{kind}` as an expression with a named group for each parameter. */
const patternOf = (path: string) => new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);

function findRoute<World>(routes: readonly ControlRoute<World>[], { path, incoming }: RequestContext): ControlRoute<World> {
  const matching = routes.filter(({ pattern }) => pattern.test(path));
  const method = incoming.method === "HEAD" ? "GET" : incoming.method;
  const found = matching.find(({ endpoint }) => endpoint.method === method);
  if (found) return found;
  if (matching.length > 0) refuseMethod(path.slice(0, 200), incoming.method, [...new Set(matching.map(({ endpoint }) => endpoint.method))]);
  return refusePath(path.slice(0, 200), routes);
}

function paramsOf(pattern: RegExp, path: string): Record<string, string> {
  const params = Object.entries(pattern.exec(path)?.groups ?? {});
  try {
    return Object.fromEntries(params.map(([name, value]) => [name, decodeURIComponent(value)]));
  } catch {
    fail("route_not_found", `Nothing is at ${path.slice(0, 200)}: what follows a % in it is no UTF-8.`);
  }
}

async function run<World>(endpoint: Endpoint<World>, world: World, context: RequestContext, params: Record<string, string>): Promise<void> {
  await readBody(context);
  const reply = serializeReply(endpoint, await runControlOperation(endpoint, world, params, context));
  Object.assign(context.headers, endpoint.headers);
  context.reply = { status: factOf(endpoint.status), body: typeof reply === "string" ? reply : write(context, reply) };
}

function write({ headers }: RequestContext, { contentType, text, policy }: Document): string {
  headers["Content-Type"] = `${contentType}; charset=utf-8`;
  if (contentType === "text/html") headers["Content-Security-Policy"] = policy;
  return text;
}

function refuseMethod(path: string, method: string | undefined, allowed: string[]): never {
  fail("method_not_allowed", `${path} takes ${allowed.join(", ")}; received ${method}.`, { allowed }, { Allow: allowed.join(", ") });
}

/** Suggests the path that may have been meant. */
function refusePath<World>(path: string, routes: readonly ControlRoute<World>[]): never {
  const known = routes.map(({ endpoint }) => CONTROL_PREFIX + endpoint.path);
  const hint = path.startsWith(CONTROL_PREFIX)
    ? didYouMean(path, known) || ` GET ${CONTROL_PREFIX} tells what there is.`
    : ` The service is under /v1, as in /v1/payments; what steers the sandbox is under ${CONTROL_PREFIX}.`;
  fail("route_not_found", `Nothing is at ${path}.${hint}`);
}
