// The Express application for every path outside /v1: the control API under /_sandbox, and 404 with a hint for anything else.

import { IncomingMessage, ServerResponse } from "node:http";
import express, { type Express } from "express";
import type { Document, Endpoint } from "../contracts/endpoint.ts";
import { CONTROL_PREFIX, PAGE_PATH } from "../contracts/paths.ts";
import { type Clock, realNow } from "../kernel/clock.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { fail } from "../kernel/errors.ts";
import { mask } from "../kernel/mask.ts";
import { factOf } from "../schema/assumed.ts";
import { isAbandoned, openContext, type RequestContext } from "./context.ts";
import type { ControlCaller } from "./control-access.ts";
import { admit, type Guard } from "./guard.ts";
import { asksForPage, createPage } from "./page.ts";
import { readBody } from "./read-body.ts";
import { failureReply, SAFE_HEADERS, send, sendFailure } from "./reply.ts";
import { runControlOperation, serializeReply } from "./run-control-operation.ts";

interface ControlAppOptions<World> {
  guard: Guard;
  clock: Clock;
  control: readonly Endpoint<World>[];
  world: World;
  /** Throws 403 unless the request may use the control API, or a part of it. */
  callerOf: (incoming: IncomingMessage) => ControlCaller;
  report: (error: unknown, context: RequestContext) => void;
  /** Loads the dashboard for a browser, at its first request. */
  loadPage: () => Document;
}

/** Sends the response itself, or leaves it in `context.reply`. */
type Work = (context: RequestContext, params: Record<string, string>) => Promise<void> | void;

export function createControlApp<World>(options: ControlAppOptions<World>): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  const { guard, control, callerOf, loadPage } = options;
  const app = express();
  keepNodePrototypes(app);
  app.disable("x-powered-by");
  app.disable("etag");
  app.enable("case sensitive routing");
  app.enable("strict routing");

  /** Runs `work` before it calls the next handler; its error is the response. */
  const check = (work: Work): express.RequestHandler => respond(options, work, "continue");
  const answer = (work: Work): express.RequestHandler => respond(options, work, "end");

  app.use(check(admit(guard)));
  app.get("/", (incoming, outgoing, next) =>
    asksForPage(incoming) ? void outgoing.writeHead(302, { ...SAFE_HEADERS, Location: PAGE_PATH, Vary: "Accept" }).end() : next(),
  );
  // Before the token is checked: the page holds no data, and asks for the token itself.
  app.get(PAGE_PATH, answer(createPage(loadPage)));
  for (const endpoint of control) {
    const verb = endpoint.method.toLowerCase() as "get" | "post" | "put" | "patch" | "delete";
    const path = CONTROL_PREFIX + endpoint.path.replaceAll(/\{(\w+)\}/g, ":$1");
    app[verb](
      path,
      answer((context, params) => run(endpoint, options, context, params)),
    );
  }
  app.use(
    CONTROL_PREFIX,
    check(({ incoming }) => void callerOf(incoming)),
  );
  app.use(answer((context) => refuse(context, control)));
  app.use((error: unknown, incoming: express.Request, outgoing: express.Response, next: express.NextFunction) =>
    answer((context) => refuseUndecodable(context, error))(incoming, outgoing, next),
  );
  return app;
}

function respond<World>({ clock, report }: ControlAppOptions<World>, work: Work, then: "continue" | "end"): express.RequestHandler {
  return async (incoming, outgoing, next) => {
    const started = realNow();
    const context = openContext(incoming, outgoing, 0, clock.now(), () => realNow() - started);
    try {
      await work(context, incoming.params as Record<string, string>);
      if (then === "continue") {
        for (const [name, value] of Object.entries(context.headers)) outgoing.setHeader(name, value);
        return next();
      }
    } catch (error) {
      if (isAbandoned(context)) return;
      context.reply = failureReply(context, error, report);
    }
    try {
      if (context.reply) send(context, context.reply);
    } catch (error) {
      sendFailure(context, error, report);
    }
  };
}

async function run<World>(
  endpoint: Endpoint<World>,
  { world, callerOf }: ControlAppOptions<World>,
  context: RequestContext,
  params: Record<string, string>,
): Promise<void> {
  // The code of a room takes the place of a token.
  const caller = endpoint.access === "room" ? "host" : callerOf(context.incoming);
  await readBody(context);
  const reply = serializeReply(endpoint, await runControlOperation(endpoint, world, params, context, caller));
  Object.assign(context.headers, endpoint.headers);
  context.reply = { status: factOf(endpoint.status), body: typeof reply === "string" ? reply : write(context, reply) };
}

function write({ headers }: RequestContext, { contentType, text, policy }: Document): string {
  headers["Content-Type"] = `${contentType}; charset=utf-8`;
  if (contentType === "text/html") headers["Content-Security-Policy"] = policy;
  return text;
}

/** 405 for a known path, otherwise 404 with the path that may have been meant. */
function refuse<World>({ path: whole, incoming }: RequestContext, control: readonly Endpoint<World>[]): never {
  const path = mask(whole, 200);
  const allowed = [...new Set(control.filter((endpoint) => matches(CONTROL_PREFIX + endpoint.path, whole)).map(({ method }) => method))];
  if (allowed.length > 0) {
    const methods = allowed.join(", ");
    fail("method_not_allowed", `${path} takes ${methods}; received ${incoming.method}.`, { allowed }, { Allow: methods });
  }
  const known = control.map((endpoint) => CONTROL_PREFIX + endpoint.path);
  const hint = path.startsWith(CONTROL_PREFIX)
    ? didYouMean(path, known) || ` GET ${CONTROL_PREFIX} lists what there is.`
    : ` The service is under /v1, as in /v1/payments; the control API is under ${CONTROL_PREFIX}.`;
  fail("route_not_found", `Nothing is at ${path}.${hint}`);
}

/** Express itself refuses only a path parameter that cannot be decoded. */
function refuseUndecodable({ path }: RequestContext, error: unknown): never {
  if (!(error instanceof URIError)) throw error;
  fail("route_not_found", `Nothing is at ${mask(path, 200)}: a % in it is not followed by UTF-8.`);
}

const matches = (pattern: string, path: string) => new RegExp(`^${pattern.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(path);

export function keepNodePrototypes(app: Express): void {
  Object.assign(app, { request: IncomingMessage.prototype, response: ServerResponse.prototype });
}
