// The keys of faults: arm one, take the whole service down and up again, clear them all.

import type { RuleState } from "../../src/contracts/fault.ts";
import { confirm } from "../overlays/confirm.ts";
import type { Values } from "../overlays/field.ts";
import { openForm } from "../overlays/form.ts";
import { type Action, calls, just, laid, listOf, type State, type Step } from "../state/state.ts";
import type { Call } from "../wire/control-calls.ts";
import { learning } from "./cached-lookups.ts";
import { faultForm } from "./fault-form.ts";
import { attemptChosen, requestChosen } from "./form-defaults.ts";

/** On a row it begins as a fault like the one that the row met, or as one that the next like it will meet. */
function arming(state: State): Step {
  const isDelivery = state.pane === "deliveries";
  const values = isDelivery ? likeAttempt(state) : likeRequest(state);
  return openForm(state, faultForm(isDelivery ? "delivery" : "api"), values, learning(state));
}

function likeRequest(state: State): Values {
  const request = requestChosen(state);
  if (!request) return {};
  const { operation, merchant, status } = request;
  return {
    ...(operation && { "match.operation": operation }),
    ...(merchant && { "match.merchant": merchant }),
    ...(status === 429 && { what: "rate_limit" }),
    ...(status >= 400 && status !== 429 && { what: "status", "action.status": String(status) }),
    ...(status === 0 && { what: "connection" }),
  };
}

function likeAttempt(state: State): Values {
  const attempt = attemptChosen(state);
  return attempt ? { "match.event": attempt.eventType, "match.merchant": attempt.merchant } : {};
}

const OUTAGE: Call = { method: "POST", path: "/faults", body: { action: { type: "outage" }, trigger: { for: "30s" } } };

function outage(state: State): Step {
  const rules = listOf(state, "faults").rows.map(({ value }) => value as RuleState);
  const down = rules.find(({ action, status, enabled }) => action.type === "outage" && status === "armed" && enabled);
  if (down) return calls(state, removing(down.id), () => "The service is up again");
  return calls(
    state,
    OUTAGE,
    () => "An outage of all /v1 for 30 s of sandbox time: o ends it",
    (later, { body }) => ({
      ...later,
      undo: [...later.undo, { what: "the outage", call: removing((body as { id: string }).id) }],
    }),
  );
}

const removing = (id: string): Call => ({ method: "DELETE", path: `/faults/${encodeURIComponent(id)}` });

function clearing(state: State): Step {
  const call: Call = { method: "DELETE", path: "/faults" };
  const cleared = (sure: State) => calls(sure, call, ({ body }) => `Faults removed: ${(body as { removed: number }).removed}`, forgotten);
  return just(laid(state, confirm("Remove every fault rule, those of scenarios among them?", call, cleared)));
}

/** What is gone cannot be taken back. */
const forgotten = (state: State): State => ({ ...state, undo: state.undo.filter(({ call }) => !call.path.startsWith("/faults/")) });

export const faultKeys: readonly Action[] = [
  { keys: ["x"], label: "faults", words: "arm a fault or a scenario; on a row, one like it", run: arming },
  { keys: ["o"], label: "outage", words: "take the whole service down for 30 s, or up again", run: outage },
  { keys: ["D"], words: "remove every fault", run: clearing },
];
