// Tells the `exec` around a test of a sandbox that the test creates for itself, and when that closes, of its verdicts.

import { connect } from "../client/http-transport.ts";
import { VERDICT_RANK, type VerdictMessage } from "../contracts/verdict.ts";
import { isoTime } from "../kernel/clock.ts";

/** As many as fit into one call. */
const MOST_ADDED = 500;

/** Call it before the first request, with null for their number, so that `exec` knows of a sandbox that is never closed. Does nothing outside of `exec`. */
export async function addToRun(sandbox: string, requests: number | null, verdicts: readonly VerdictMessage[]): Promise<void> {
  const { MERCHANT_SANDBOX_EXEC: mark, MERCHANT_SANDBOX_URL: url, MERCHANT_SANDBOX_CONTROL_TOKEN: controlToken } = process.env;
  if (mark === undefined || url === undefined) return;
  const added = verdicts.toSorted((one, other) => VERDICT_RANK[one.verdict] - VERDICT_RANK[other.verdict]).slice(0, MOST_ADDED);
  await connect(url, { controlToken }).verdicts.add({ sandbox, requests, verdicts: added.map((verdict) => asForeign(sandbox, verdict)) });
}

/** Ids of merchants, requests and rules are unique within a sandbox only, so the verdict names this one. */
function asForeign(sandbox: string, { at, merchant, says, requests, attempts, calls, ...verdict }: VerdictMessage) {
  const { port } = new URL(sandbox);
  const named = (id: string) => `${port}/${id}`;
  return {
    ...verdict,
    id: null,
    at: isoTime(at),
    merchant: null,
    fault: null,
    says: `In a test's own sandbox, ${[sandbox, merchant].filter((part) => part !== null).join(", ")}: ${says}`,
    requests: requests.map(named),
    attempts: attempts.map(named),
    calls: calls.map((call) => ({ ...call, request: named(call.request) })),
  };
}
