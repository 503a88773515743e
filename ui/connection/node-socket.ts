// The connection to the live stream in Node, with `ws`.

import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import { readLiveMessage } from "../../src/client/read-live-message.ts";
import { valueOfJson } from "./json-schema.ts";
import type { OpenSocket } from "./live-stream.ts";

/** The most bytes of a message; a larger one closes the connection. */
const MAX_MESSAGE = 16 * 1_048_576;
/** The most characters that are read from the response of a rejected connection. */
const MAX_REFUSAL = 65_536;

export const openSocket: OpenSocket = ({ url, token }, query, handlers) => {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/_sandbox/live?${query}`, {
    headers,
    maxPayload: MAX_MESSAGE,
  });
  let reason = "connection closed";
  let status: string | undefined;
  socket.on("open", handlers.opened);
  socket.on("message", (text) => handlers.message(readLiveMessage(String(text))));
  socket.on("unexpected-response", (_, response) => {
    void refusalReason(response, token !== undefined).then((refusal) => {
      status = `HTTP ${response.statusCode}`;
      if (refusal !== undefined) handlers.refused(refusal);
      socket.terminate();
    });
  });
  socket.on("error", (error: NodeJS.ErrnoException) => {
    reason = error.code === "ECONNREFUSED" ? "connection refused" : error.message || String(error.code);
  });
  socket.on("close", () => handlers.closed(status ?? reason));
  return {
    send: (text) => socket.readyState === WebSocket.OPEN && socket.send(text),
    close: () => socket.terminate(),
  };
};

/** Why access was denied; undefined for any other response, which may succeed later. */
async function refusalReason(response: IncomingMessage, hasToken: boolean): Promise<string | undefined> {
  let text = "";
  for await (const chunk of response) {
    text += chunk;
    if (text.length > MAX_REFUSAL) break;
  }
  const { statusCode = 0 } = response;
  // A sandbox answers 503 when it has too many clients; a proxy answers other 5xx while it starts.
  if (statusCode >= 500) return undefined;
  if (statusCode !== 403) return `this is not a merchant-sandbox: it answered HTTP ${statusCode} to GET /_sandbox/live`;
  const { code, message } = (valueOfJson(text) ?? {}) as { code?: unknown; message?: unknown };
  if (code === "control_token_required")
    return hasToken
      ? "the control token is wrong: pass the sandbox's own with --control-token TOKEN"
      : "the control API requires a token: pass --control-token TOKEN";
  return typeof message === "string" ? message : text;
}
