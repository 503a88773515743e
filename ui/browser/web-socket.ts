// The connection to the live stream with the browser's own WebSocket.

import { CONTROL_PREFIX } from "../../src/contracts/paths.ts";
import type { OpenSocket } from "../connection/live-stream.ts";

const base64url = (text: string) => {
  const binary = String.fromCharCode(...new TextEncoder().encode(text));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
};

export const openSocket: OpenSocket = ({ url, token }, query, { opened, message, refused, closed }) => {
  // Sends the token as a subprotocol, because a browser's WebSocket cannot set headers. The server selects the first
  // subprotocol.
  const protocols = token === undefined ? [] : ["merchant-sandbox", `bearer.${base64url(token)}`];
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}${CONTROL_PREFIX}/live?${query}`, protocols);
  let wasOpen = false;
  socket.onopen = () => {
    wasOpen = true;
    opened();
  };
  // Not validated, because the page comes from the sandbox that sends the messages.
  socket.onmessage = ({ data }) => message({ message: JSON.parse(String(data)), unknown: 0 });
  socket.onclose = () => {
    // A browser does not report why a handshake failed. An ordinary request is rejected for the same reason, and its
    // response says why.
    if (wasOpen) closed("connection closed");
    else
      void refusalOf(url, token).then((reason) => (reason === undefined ? closed("no connection") : refused(reason)));
  };
  return {
    send: (text) => socket.readyState === WebSocket.OPEN && socket.send(text),
    close: () => socket.close(),
  };
};

/** Why the control API rejects this page; undefined if the API accepts the page or does not respond. */
async function refusalOf(url: string, token: string | undefined): Promise<string | undefined> {
  try {
    const headers: HeadersInit = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    const response = await fetch(`${url}${CONTROL_PREFIX}/health`, { headers, cache: "no-store" });
    return response.status === 403 ? ((await response.json()) as { message: string }).message : undefined;
  } catch {
    return undefined;
  }
}
