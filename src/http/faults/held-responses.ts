// Responses that a fault keeps waiting: released when their connection closes, on reset, and on shutdown.

import type { ServerResponse } from "node:http";

export interface HeldResponses {
  /** Calls `release` when the connection closes or all are released; the returned function releases it earlier. */
  hold(outgoing: ServerResponse, release: () => void): () => void;
  releaseAll(): void;
}

export function createHeldResponses(): HeldResponses {
  const waiting = new Set<() => void>();
  return {
    hold(outgoing, release) {
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
