// Serves the dashboard's page from memory, compressed once, with an ETag.

import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Document } from "../contracts/endpoint.ts";
import { once } from "../kernel/once.ts";
import type { RequestContext } from "./context.ts";
import { SAFE_HEADERS } from "./reply.ts";

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
    if (incoming.headers["if-none-match"]?.includes(served.etag)) return void outgoing.writeHead(304, served.headers).end();
    const isCompressed = /\bgzip\b(?!;q=0(?:\.0*)?(?:,|$))/.test(String(incoming.headers["accept-encoding"]));
    const body = isCompressed ? await served.compressed() : served.bytes;
    const encoded = isCompressed ? { "Content-Encoding": "gzip" } : {};
    outgoing.writeHead(200, { ...served.headers, ...encoded, "Content-Length": body.length });
    outgoing.end(incoming.method === "HEAD" ? undefined : body);
  };
}

/** Whether a browser sent the request. Browsers accept text/html; API clients do not ask for it. */
export const asksForPage = ({ headers }: IncomingMessage) => /\btext\/html\b/.test(headers.accept ?? "");
