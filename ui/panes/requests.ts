// The pane of requests: what was asked of the service, and what it answered.

import { isoTime } from "../../src/kernel/clock.ts";
import { requestFacts } from "../../src/kernel/live-rows.ts";
import type { RequestMessage } from "../../src/kernel/messages.ts";
import { requestDetail } from "../details/request.ts";
import { type State, shortMerchant } from "../state/state.ts";
import { signs, type Tone } from "../terminal/style.ts";
import { curlOf } from "../wire/calls.ts";
import { pane } from "./pane.ts";

export const requests = pane<RequestMessage>({
  name: "requests",
  title: "Requests",
  id: ({ id }) => id,
  facts: requestFacts,
  hears: { kind: "request", value: (item) => (item.kind === "request" ? item.request : undefined) },
  cells(request, { look }) {
    const { at, method, path, query, status, durationMs, merchant, replayOf, fault } = request;
    const note = replayOf ? signs(look).replayed : fault ? "*" : "";
    return [
      { text: isoTime(at).slice(11, 23), width: 12, tones: ["dim"], from: 64 },
      { text: method, width: 6 },
      { text: query === "" ? path : `${path}?${query}` },
      { text: String(status || "cut"), width: 3, tones: statusTones(status) },
      { text: note, width: 1, tones: fault ? ["magenta"] : [] },
      { text: `${durationMs.toFixed(1)} ms`, width: 10, align: "right", tones: ["dim"], from: 56 },
      { text: shortMerchant(merchant), width: 8, from: 50 },
    ];
  },
  empty: (state) => ["No requests yet. Try:", "", curlOf(state.target, firstCall(state))],
  detail: requestDetail,
});

const firstCall = ({ sandbox }: State) =>
  ({ method: "GET", path: "/v1/payments?limit=1", key: sandbox?.merchants[0]?.apiKeys[0] ?? "sk_test_lodge" }) as const;

/** What a status looks like; its digits say the same. */
export function statusTones(status: number): Tone[] {
  if (status >= 500 || status === 0) return ["red"];
  if (status >= 400) return ["yellow"];
  return ["green"];
}
