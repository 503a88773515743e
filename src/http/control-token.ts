// The control plane's own lock: open on loopback, and closed by a token as soon as the sandbox can be reached from elsewhere.

import type { IncomingMessage } from "node:http";
import { CONTROL_PREFIX } from "../contracts/paths.ts";
import { fail } from "../kernel/errors.ts";

/** What stands open in the room of a workshop: its operations ask for the room's own word, and can do no harm outside it. */
const isRoom = (incoming: IncomingMessage) => {
  const { url = "", originalUrl = url } = incoming as IncomingMessage & { originalUrl?: string };
  return originalUrl.startsWith(`${CONTROL_PREFIX}/room/`);
};

export const requireControlToken = (token: string | undefined) => (incoming: IncomingMessage) => {
  if (token === undefined || isRoom(incoming) || incoming.headers.authorization === `Bearer ${token}`) return;
  fail(
    "control_token_required",
    "This sandbox is open to the network: send its control token as `Authorization: Bearer …`. An sk_test_ key does not open the control plane.",
  );
};
