// Serves every path outside /v1: the control API under /_sandbox, the dashboard's page, and 404 with a hint for
// anything else.

import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Endpoint } from "../contracts/endpoint.ts";
import { CONTROL_PREFIX, PAGE_PATH, SKILL_PATH } from "../contracts/paths.ts";
import type { Clock } from "../kernel/clock.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { fail } from "../kernel/errors.ts";
import { mask } from "../kernel/mask.ts";
import { once } from "../kernel/once.ts";
import { type Document, JsonParts } from "../kernel/reply-bodies.ts";
import { factOf } from "../schema/assumed.ts";
import { refuseLiveKeyIn } from "./authenticate.ts";
import {
  contextOf,
  isAbandoned,
  openContext,
  passOn,
  type Reply,
  type RequestContext,
  type Stage,
  setContext,
} from "./context.ts";
import { runControlOperation, serializeReply, withRoomForRequest } from "./control-operation.ts";
import { admit, type Guard } from "./guard.ts";
import { readBody, yieldIfLong } from "./read-body.ts";
import { failureReply, SAFE_HEADERS, send, sendOrFail } from "./reply.ts";
import { addRoutes, closeRouter, inTurn, openRouter, pathsOf, requireLiteralPath } from "./route.ts";
import { sendParts } from "./send-parts.ts";
import { createUnreadBound, type UnreadBound } from "./unread-responses.ts";

interface ControlAppOptions<World> {
  guard: Guard;
  clock: Clock;
  control: readonly Endpoint<World>[];
  world: World;
  /** Throws 403 if the request lacks the control token. */
  requireToken: (incoming: IncomingMessage) => void;
  /**
   * Updates the data that operations read, in steps between other requests. Undefined if there is nothing to update.
   */
  prepare: () => Promise<void> | undefined;
  report: (error: unknown, context: RequestContext) => void;
  /** Loads the dashboard's page, at the first request for it. */
  loadPage: () => Document;
  /** Loads the page for coding agents. */
  loadSkill: () => Document;
}

export function createControlApp<World>(
  options: ControlAppOptions<World>,
): (request: IncomingMessage, response: ServerResponse) => void {
  const { guard, clock, control, requireToken, loadPage, loadSkill } = options;
  const world = withRoomForRequest(options.world);
  const paths = pathsOf(CONTROL_PREFIX, control);
  const refuse = ({ path }: RequestContext) => refusePath(path, paths);
  const router = openRouter();
  const unread = createUnreadBound();
  router.use(
    inTurn(
      admit(guard), //                       403 414 417
      refuseLiveKeys, //                     403
      checkToken(requireToken), //           403
      requireLiteralPath(refuse), //         404
    ),
  );
  router.get("/", redirectToPage);
  router.get(PAGE_PATH, createPage(loadPage));
  router.get(SKILL_PATH, createPage(loadSkill));
  addRoutes(router, CONTROL_PREFIX, control, (endpoint) =>
    inTurn(
      readBody, //                           415 413 400
      yieldIfLong,
      run(endpoint, world, unread, options), // 400 403 404 409 503, or the operation's reply
    ),
  );
  const { finish, failed } = createEnding(options);
  const route = closeRouter(router, { refuse, failed });
  return (request, response) => {
    setContext(request, openContext(request, response, clock.now(), finish));
    route(request, response);
  };
}

const refuseLiveKeys: Stage = (request, _response, next) => {
  refuseLiveKeyIn(request);
  next();
};

/** Redirects a browser from / to the page. API clients get 404. */
const redirectToPage: Stage = (request, response, next) => {
  if (!asksForPage(request)) return next();
  response.writeHead(302, { ...SAFE_HEADERS, Location: PAGE_PATH, Vary: "Accept" }).end();
};

/** Sends the reply that a stage has set, or an error reply. */
function createEnding<World>({ report }: ControlAppOptions<World>) {
  const finish = (context: RequestContext) =>
    void sendOrFail(context, () => send(context, context.reply as Reply), report);
  const failed = (context: RequestContext, error: unknown) => {
    if (isAbandoned(context) || (error as Error).name === "AbortError") return;
    context.reply = failureReply(context, error, report);
    finish(context);
  };
  return { finish, failed };
}

const run =
  <World>(
    endpoint: Endpoint<World>,
    world: World,
    unread: UnreadBound,
    { prepare, report }: Pick<ControlAppOptions<World>, "prepare" | "report">,
  ): Stage =>
  async (request, response, next) => {
    const context = contextOf(request);
    unread.check();
    const gone = new AbortController();
    // Aborts only unfinished calls: creating the AbortError with its stack costs more than handling a short call.
    response.once("close", () => {
      if (!response.writableFinished) gone.abort();
    });
    await prepare();
    const reply = serializeReply(
      endpoint,
      await runControlOperation(endpoint, world, context.params, context, gone.signal),
    );
    Object.assign(context.headers, endpoint.headers);
    if (reply instanceof JsonParts) return sendParts(context, reply, report);
    const body = typeof reply === "string" ? reply : write(context, reply);
    context.reply = { status: factOf(endpoint.status), body };
    unread.add(response, body.length);
    passOn(context, next);
  };

/**
 * Checks the token before the path, so that callers without the token cannot find out which paths exist. Also checks it
 * before the body is read, so that such a call costs no time. The page holds no data and asks for the token itself.
 */
const checkToken =
  (requireToken: (incoming: IncomingMessage) => void): Stage =>
  (request, _response, next) => {
    const { path } = contextOf(request);
    if (path.startsWith(CONTROL_PREFIX) && path !== PAGE_PATH) requireToken(request);
    next();
  };

function write({ headers }: RequestContext, { contentType, text, policy }: Document): string {
  headers["Content-Type"] = `${contentType}; charset=utf-8`;
  if (contentType === "text/html") headers["Content-Security-Policy"] = policy;
  return text;
}

function refusePath(whole: string, known: readonly string[]): never {
  const path = mask(whole, 200);
  const hint = path.startsWith(CONTROL_PREFIX)
    ? didYouMean(path, known) || ` GET ${CONTROL_PREFIX} lists what there is.`
    : ` The service is under /v1, as in /v1/payments; the control API is under ${CONTROL_PREFIX}.`;
  fail("route_not_found", `Nothing is at ${path}.${hint}`);
}

/** Creates the handler that responds with the page. */
function createPage(load: () => Document): Stage {
  const page = once(() => {
    const { contentType, text, policy } = load();
    const bytes = Buffer.from(text);
    const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
    const headers = {
      ...SAFE_HEADERS,
      "Content-Type": `${contentType}; charset=utf-8`,
      "Content-Security-Policy": policy,
      ETag: etag,
      // The browser revalidates each time, and gets 304 until the program changes.
      "Cache-Control": "no-cache",
      Vary: "Accept-Encoding",
      "Referrer-Policy": "no-referrer",
    };
    return { bytes, etag, headers, compressed: once(() => promisify(gzip)(bytes)) };
  });
  return async (incoming, outgoing) => {
    const served = page();
    if (incoming.headers["if-none-match"]?.includes(served.etag))
      return void outgoing.writeHead(304, served.headers).end();
    const isCompressed = /\bgzip\b(?!;q=0(?:\.0*)?(?:,|$))/.test(String(incoming.headers["accept-encoding"]));
    const body = isCompressed ? await served.compressed() : served.bytes;
    const encoded = isCompressed ? { "Content-Encoding": "gzip" } : {};
    outgoing.writeHead(200, { ...served.headers, ...encoded, "Content-Length": body.length });
    outgoing.end(incoming.method === "HEAD" ? undefined : body);
  };
}

/** Whether a browser sent the request. Browsers accept text/html; API clients do not ask for it. */
const asksForPage = ({ headers }: IncomingMessage) => /\btext\/html\b/.test(headers.accept ?? "");
