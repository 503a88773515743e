// Responses that a fault delays. They are released when their connection closes, on reset, and on shutdown.

import type { ServerResponse } from "node:http";

export type HeldResponses = ReturnType<typeof createHeldResponses>;

export function createHeldResponses() {
  const waiting = new Set<() => void>();
  return {
    /** Calls `release` when the connection closes or all responses are released. The returned function releases the response earlier. */
    hold(outgoing: ServerResponse, release: () => void) {
      const end = () => {
        waiting.delete(end);
        outgoing.off("close", end);
        release();
      };
      waiting.add(end);
      outgoing.once("close", end);
      return end;
    },
    releaseAll() {
      for (const end of waiting) end();
    },
  };
}
