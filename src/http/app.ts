// The only Express: the control plane, and a helpful answer for whatever is nobody's.

import { IncomingMessage, ServerResponse } from "node:http";
import express from "express";
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

interface Needs<World> {
  guard: Guard;
  clock: Clock;
  control: readonly Endpoint<World>[];
  world: World;
  /** Refuses whoever may not use the control plane. */
  checkToken: (incoming: IncomingMessage) => void;
  report: (error: unknown, context: RequestContext) => void;
}

export function createApp<World>(needs: Needs<World>): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  const { guard, clock, control, report } = needs;
  const app = express();
  leaveAsTheyAre(app);
  app.disable("x-powered-by");
  app.disable("etag");
  for (const setting of ["case sensitive routing", "strict routing"]) app.enable(setting);

  const open = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const started = realNow();
    return openContext(incoming, outgoing, 0, clock.now(), () => realNow() - started);
  };
  const answer =
    (work: (context: RequestContext) => Promise<void> | void) => async (incoming: IncomingMessage, outgoing: ServerResponse) => {
      const context = open(incoming, outgoing);
      try {
        await work(context);
      } catch (error) {
        if (isAbandoned(context)) return;
        context.reply = failureReply(context, error, report);
      }
      if (context.reply) send(context, context.reply);
    };

  app.use((incoming, outgoing, next) =>
    answer((context) => {
      guard.check(context.incoming);
      next();
    })(incoming, outgoing),
  );
  app.use(CONTROL_PREFIX, (incoming, outgoing, next) =>
    answer((context) => {
      needs.checkToken(context.incoming);
      next();
    })(incoming, outgoing),
  );
  for (const endpoint of control) {
    const path = CONTROL_PREFIX + endpoint.path.replaceAll(/\{(\w+)\}/g, ":$1");
    const verb = endpoint.method.toLowerCase() as "get" | "post" | "put" | "patch" | "delete";
    app[verb](path, (incoming, outgoing) =>
      answer((context) => run(endpoint, needs.world, context, incoming.params as Record<string, string>))(incoming, outgoing),
    );
  }
  app.use((incoming, outgoing) => answer((context) => refuse(context, control))(incoming, outgoing));
  app.use((error: unknown, incoming: IncomingMessage, outgoing: ServerResponse, _next: unknown) =>
    answer((context) => refuseUndecodable(context, error))(incoming, outgoing),
  );
  return app;
}

/**
 * Express gives each request and answer a prototype with methods of its own, which nobody uses here. V8 then takes back, each
 * time, what it had compiled for every other request: one call a second to the control plane cost the service a tenth of its rate.
 */
function leaveAsTheyAre(app: express.Express): void {
  Object.assign(app, { request: IncomingMessage.prototype, response: ServerResponse.prototype });
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

/** No page and no route: says which one could have been meant. */
function refuse<World>(context: RequestContext, control: readonly Endpoint<World>[]): never {
  const path = context.path.slice(0, 200);
  const here = control.filter((endpoint) => matches(CONTROL_PREFIX + endpoint.path, context.path));
  if (here.length > 0) {
    const allowed = [...new Set(here.map(({ method }) => method))];
    fail(
      "method_not_allowed",
      `${path} takes ${allowed.join(", ")}; received ${context.incoming.method}.`,
      { allowed },
      { Allow: allowed.join(", ") },
    );
  }
  const known = control.map((endpoint) => CONTROL_PREFIX + endpoint.path);
  const hint = path.startsWith(CONTROL_PREFIX)
    ? didYouMean(path, known) || ` GET ${CONTROL_PREFIX} tells what there is.`
    : ` The service is under /v1, as in /v1/payments; what steers the sandbox is under ${CONTROL_PREFIX}.`;
  fail("route_not_found", `Nothing is at ${path}.${hint}`);
}

/** The one thing that Express refuses by itself: a path in which a parameter cannot be decoded. */
function refuseUndecodable({ path }: RequestContext, error: unknown): never {
  if (!(error instanceof URIError)) throw error;
  fail("route_not_found", `Nothing is at ${path.slice(0, 200)}: what follows a % in it is no UTF-8.`);
}

const matches = (pattern: string, path: string) => new RegExp(`^${pattern.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(path);
