// The control token: required on the control API as soon as other machines can reach the sandbox; on loopback there is none.

import type { IncomingMessage } from "node:http";
import { CONTROL_PREFIX } from "../contracts/paths.ts";
import { fail } from "../kernel/errors.ts";
import { isSameToken } from "../kernel/random.ts";

/** Workshop endpoints are exempt: they check the code of their workshop, and affect nothing outside it. */
const isWorkshopRequest = (incoming: IncomingMessage) => {
  const { url = "", originalUrl = url } = incoming as IncomingMessage & { originalUrl?: string };
  return originalUrl.startsWith(`${CONTROL_PREFIX}/room/`);
};

/** The subprotocol by which a browser sends the token: its WebSocket cannot set a header. The token is in base64url, because a subprotocol has few characters. */
const BEARER_PROTOCOL = /(?:^|,)\s*bearer\.([\w-]+)\s*(?:,|$)/;

function sentToken({ headers }: IncomingMessage): string {
  const [, encoded] = BEARER_PROTOCOL.exec(headers["sec-websocket-protocol"] ?? "") ?? [];
  return encoded === undefined ? (headers.authorization ?? "") : `Bearer ${Buffer.from(encoded, "base64url")}`;
}

export const requireControlToken = (token: string | undefined) => (incoming: IncomingMessage) => {
  if (token === undefined || isWorkshopRequest(incoming) || isSameToken(sentToken(incoming), `Bearer ${token}`)) return;
  fail(
    "control_token_required",
    "This sandbox is open to the network: send its control token as `Authorization: Bearer …`. An sk_test_ key does not open the control API.",
  );
};
