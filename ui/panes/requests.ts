// The pane of requests: what was asked of the service, and what it answered.

import type { RequestMessage } from "../../src/contracts/live-messages.ts";
import { requestFacts } from "../../src/contracts/live-rows.ts";
import { requestDetail } from "../details/request.ts";
import { duration } from "../format-numbers.ts";
import { type State, shortMerchant } from "../state/state.ts";
import { statusTones } from "../status-colours.ts";
import { signs } from "../terminal/style.ts";
import { timeOfDay } from "../time.ts";
import { curlOf } from "../wire/control-calls.ts";
import { pane } from "./pane.ts";
import { requestActions } from "./request-actions.ts";

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
      { text: timeOfDay(at), width: 12, tones: ["dim"], from: 64 },
      { text: method, width: 6 },
      { text: query === "" ? path : `${path}?${query}`, ends: true },
      { text: status === 0 ? "cut" : String(status), width: 3, tones: statusTones(status) },
      { text: note, width: 1, tones: fault ? ["magenta"] : [] },
      { text: duration(durationMs), width: 8, align: "right", tones: ["dim"], from: 56 },
      { text: shortMerchant(merchant), width: 8, ends: true, from: 50 },
    ];
  },
  empty: (state) => ["No requests yet. Try:", "", curlOf(state.target, firstCall(state))],
  detail: requestDetail,
  kin: (one, other) => one.operation === other.operation,
  actions: requestActions,
});

const firstCall = (state: State) => ({ method: "GET", path: "/v1/payments?limit=1", key: firstKey(state) }) as const;

/** A key to try something with. */
export const firstKey = ({ sandbox }: State) => sandbox?.merchants[0]?.apiKeys[0] ?? "sk_test_lodge";
