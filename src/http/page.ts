// Serves the dashboard's page: compressed once, from memory, with an ETag.

import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";
import type { Document } from "../contracts/endpoint.ts";
import { once } from "../kernel/once.ts";
import type { RequestContext } from "./context.ts";
import { SAFE_HEADERS } from "./reply.ts";

const compressors = { br: promisify(brotliCompress), gzip: promisify(gzip) } as const;

/** Returns the handler that answers a request for the page. The page holds no data. */
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
      // The browser asks again each time, and gets 304 until the program changes.
      "Cache-Control": "no-cache",
      Vary: "Accept-Encoding",
      "Referrer-Policy": "no-referrer",
    };
    return { bytes, etag, headers, br: once(() => compressors.br(bytes)), gzip: once(() => compressors.gzip(bytes)) };
  });
  return async ({ incoming, outgoing }) => {
    const served = page();
    if (incoming.headers["if-none-match"]?.includes(served.etag)) return void outgoing.writeHead(304, served.headers).end();
    const encoding = acceptedEncoding(incoming);
    const body = encoding === undefined ? served.bytes : await served[encoding]();
    const encoded = encoding === undefined ? {} : { "Content-Encoding": encoding };
    outgoing.writeHead(200, { ...served.headers, ...encoded, "Content-Length": body.length });
    outgoing.end(incoming.method === "HEAD" ? undefined : body);
  };
}

/** The best encoding that the client accepts; undefined for none. */
function acceptedEncoding({ headers }: IncomingMessage): keyof typeof compressors | undefined {
  const accepted = String(headers["accept-encoding"] ?? "")
    .toLowerCase()
    .split(",")
    .map((part) => part.replaceAll(" ", ""))
    .filter((part) => !/;q=0(?:\.0*)?$/.test(part))
    .map((part) => part.split(";")[0]);
  return accepted.includes("br") ? "br" : accepted.includes("gzip") ? "gzip" : undefined;
}

/** Whether a browser asks: it names HTML, which a client of an API does not. */
export const asksForPage = ({ headers }: IncomingMessage) => /\btext\/html\b/.test(headers.accept ?? "");
