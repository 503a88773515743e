// Serves every path outside /v1: the control API under /_sandbox, the dashboard's page, and 404 with a hint for
// anything else.

import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Document, Endpoint } from "../contracts/endpoint.ts";
import { CONTROL_PREFIX, PAGE_PATH } from "../contracts/paths.ts";
import type { Clock } from "../kernel/clock.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { fail } from "../kernel/errors.ts";
import { mask } from "../kernel/mask.ts";
import { once } from "../kernel/once.ts";
import { factOf } from "../schema/assumed.ts";
import { refuseLiveKeyIn } from "./authenticate.ts";
import { isAbandoned, openContext, type Reply, type RequestContext } from "./context.ts";
import { runControlOperation, serializeReply } from "./control-operation.ts";
import { admit, type Guard } from "./guard.ts";
import { readBody, yieldIfLong } from "./read-body.ts";
import { failureReply, SAFE_HEADERS, send, sendFailure } from "./reply.ts";
import { createRouter } from "./route.ts";

interface ControlAppOptions<World> {
  guard: Guard;
  clock: Clock;
  control: readonly Endpoint<World>[];
  world: World;
  /** Throws 403 if the request lacks the control token. */
  requireToken: (incoming: IncomingMessage) => void;
  report: (error: unknown, context: RequestContext) => void;
  /** Loads the dashboard's page, at the first request for it. */
  loadPage: () => Document;
}

type Router<World> = ReturnType<typeof createRouter<Endpoint<World>>>;

export function createControlApp<World>(options: ControlAppOptions<World>) {
  const { guard, clock, control, report, loadPage } = options;
  const router = createRouter(CONTROL_PREFIX, control);
  const checkGuard = admit(guard);
  const sendPage = createPage(loadPage);
  return async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const context = openContext(incoming, outgoing, 0, clock.now());
    try {
      checkGuard(context);
      refuseLiveKeyIn(incoming);
      const isRead = incoming.method === "GET" || incoming.method === "HEAD";
      if (isRead && context.path === "/" && asksForPage(incoming)) return redirectToPage(outgoing);
      // Served without a token, because the page holds no data and asks for the token itself.
      if (isRead && context.path === PAGE_PATH) return await sendPage(context);
      context.reply = await callOperation(router, options, context);
    } catch (error) {
      if (isAbandoned(context) || (error as Error).name === "AbortError") return;
      context.reply = failureReply(context, error, report);
    }
    try {
      send(context, context.reply);
    } catch (error) {
      sendFailure(context, error, report);
    }
  };
}

const redirectToPage = (outgoing: ServerResponse) =>
  void outgoing.writeHead(302, { ...SAFE_HEADERS, Location: PAGE_PATH, Vary: "Accept" }).end();

async function callOperation<World>(
  router: Router<World>,
  { world, requireToken }: ControlAppOptions<World>,
  context: RequestContext,
): Promise<Reply> {
  const { incoming, outgoing } = context;
  // Before the path is looked up, so that callers without the token cannot find out which paths exist. Before the body
  // is read, so that such a call costs no time.
  if (context.path.startsWith(CONTROL_PREFIX)) requireToken(incoming);
  const endpoint = router.find(context) ?? refuse(context.path, router.paths);
  await readBody(context);
  await yieldIfLong(context);
  const gone = new AbortController();
  outgoing.once("close", () => gone.abort());
  const reply = serializeReply(
    endpoint,
    await runControlOperation(endpoint, world, context.params, context, gone.signal),
  );
  Object.assign(context.headers, endpoint.headers);
  return { status: factOf(endpoint.status), body: typeof reply === "string" ? reply : write(context, reply) };
}

function write({ headers }: RequestContext, { contentType, text, policy }: Document): string {
  headers["Content-Type"] = `${contentType}; charset=utf-8`;
  if (contentType === "text/html") headers["Content-Security-Policy"] = policy;
  return text;
}

function refuse(whole: string, known: readonly string[]): never {
  const path = mask(whole, 200);
  const hint = path.startsWith(CONTROL_PREFIX)
    ? didYouMean(path, known) || ` GET ${CONTROL_PREFIX} lists what there is.`
    : ` The service is under /v1, as in /v1/payments; the control API is under ${CONTROL_PREFIX}.`;
  fail("route_not_found", `Nothing is at ${path}.${hint}`);
}

/** Creates the handler that responds with the page. */
export function createPage(load: () => Document): (context: RequestContext) => Promise<void> {
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
  return async ({ incoming, outgoing }) => {
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
export const asksForPage = ({ headers }: IncomingMessage) => /\btext\/html\b/.test(headers.accept ?? "");
