// The writes that receivers send back to the API, each with the delivery attempt to which the judge attributes it.

import { setBounded } from "../kernel/bounded-cache.ts";

/** The delivery attempt that a write followed from. */
export interface CallBack {
  readonly attempt: string;
  /** Whether the write arrived while the attempt was in flight. Otherwise it arrived soon afterwards. */
  readonly wasInFlight: boolean;
}

const MOST_KEPT = 10_000;

export function createCallBacks() {
  /** The attempts, by the id of the request that made the write. */
  const causes = new Map<string, CallBack & { readonly merchant: string }>();
  return {
    /** Replaces an earlier attribution of the request. Removes it if `cause` is undefined. */
    record(merchant: string, request: string, cause: CallBack | undefined) {
      causes.delete(request);
      if (cause) setBounded(causes, request, { ...cause, merchant }, MOST_KEPT);
    },
    /** Every request with its cause. */
    all: (): ReadonlyMap<string, CallBack> => causes,
    forget(merchant?: string) {
      for (const [request, cause] of causes)
        if (merchant === undefined || cause.merchant === merchant) causes.delete(request);
    },
  };
}
