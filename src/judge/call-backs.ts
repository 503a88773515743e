// The calls that receivers made back: which delivery attempt each write followed from, as the judge attributes them.

import { setBounded } from "../kernel/bounded-cache.ts";

/** The delivery attempt that a write followed from. */
export interface CallBack {
  readonly attempt: string;
  /** Whether the write arrived before the receiver had responded, and not only soon afterwards. */
  readonly wasInFlight: boolean;
}

const MOST_KEPT = 10_000;

export function createCallBacks() {
  /** By the id of the request. */
  const causes = new Map<string, CallBack & { readonly merchant: string }>();
  return {
    /** Replaces an earlier attribution of the request; undefined removes it. */
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
