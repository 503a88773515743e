// Waits until a server accepts connections, without sending it a request.

import { connect } from "node:net";
import { realDelay } from "../../kernel/clock.ts";
import type { TargetPolicy } from "./target-policy.ts";

/** Real milliseconds between two attempts to connect. */
const LOOK_EVERY = 50;
/** Real milliseconds that one attempt may take. */
const LONGEST_LOOK = 2_000;

/** Resolves with true once the server accepts a connection, or with false once `isOver` returns true. */
export async function acceptsConnections(
  url: string,
  { lookup }: Partial<Pick<TargetPolicy, "lookup">>,
  isOver: () => boolean,
): Promise<boolean> {
  while (!isOver()) {
    if (await canConnect(new URL(url), lookup)) return true;
    await realDelay(LOOK_EVERY);
  }
  return false;
}

const canConnect = ({ protocol, hostname, port }: URL, lookup: TargetPolicy["lookup"] | undefined) =>
  new Promise<boolean>((resolve) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ""),
      port: Number(port || (protocol === "https:" ? 443 : 80)),
      lookup,
      timeout: LONGEST_LOOK,
    });
    const end = (accepted: boolean) => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once("connect", () => end(true));
    socket.once("timeout", () => end(false));
    socket.once("error", () => end(false));
  });
