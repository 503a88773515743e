// Polls what a learner's page shows: the learner's progress, and the requests, deliveries and verdicts of their merchant.
// The live stream is not for learners: it has the requests of all merchants.

import type { RoomSandboxReply, SandboxOverviewReply } from "../../generated/control-api.ts";
import { NO_COUNTS } from "../../src/contracts/counts.ts";
import { plainSignature } from "../../src/contracts/signature.ts";
import type { VerdictMessage } from "../../src/contracts/verdict.ts";
import { realNow } from "../../src/kernel/clock.ts";
import { visiblePanes } from "../panes/index.ts";
import type { Pane } from "../panes/pane.ts";
import { applyUpdate, type RunningDashboard } from "../run-effects.ts";
import { applyConnection, applyPolledRows, applySandboxIndex } from "../state/apply-message.ts";
import { pollLearner } from "../state/learning.ts";
import { type UiState, update, valuesOf } from "../state/state.ts";
import type { Call } from "../wire/control-calls.ts";
import { askRoom, type Place } from "./room-perform.ts";

/** Each learner of a room asks this often. */
export const POLL_MS = 2_000;
const SANDBOX_CALL: Call<RoomSandboxReply> = { method: "GET", path: "/sandbox" };

export async function pollRoom(dashboard: RunningDashboard, place: Place): Promise<void> {
  const { target, face } = dashboard;
  const show = (next: (state: UiState) => UiState) => {
    applyUpdate(dashboard, update(next({ ...dashboard.state, now: realNow() })));
    dashboard.scheduler.paintSoon();
  };
  try {
    const { body } = await askRoom(target, place, SANDBOX_CALL);
    show((state) => withSandbox(applyConnection(state, { phase: "live" }), body));
    applyUpdate(dashboard, update(dashboard.state, ...pollLearner(dashboard.state)));
    const panes = visiblePanes(dashboard.state);
    const replies = await Promise.all(panes.map(({ log }) => log && face.perform(target, log.call({ before: undefined, filter: "" }))));
    show((state) => panes.reduce((before, pane, index) => withRows(before, pane, replies[index]?.body), state));
  } catch (error) {
    show((state) => applyConnection(state, { phase: "reconnecting", retryInMs: POLL_MS, reason: (error as Error).message }));
  }
}

/** The newest rows of the log, in its order. */
function withRows(state: UiState, { name, log }: Pane, reply: unknown): UiState {
  if (!log || reply === undefined) return state;
  const rows = log.read(reply).rows.toSorted((one, other) => (one.order ?? 0) - (other.order ?? 0));
  const next = applyPolledRows(state, name, rows);
  return name === "verdicts" ? { ...next, made: { ...next.made, verdicts: countOf(valuesOf<VerdictMessage>(next, name)) } } : next;
}

function countOf(verdicts: readonly VerdictMessage[]) {
  const counts = { ...NO_COUNTS.verdicts, failures: {} as Record<string, number> };
  for (const { verdict, rule } of verdicts) {
    counts[verdict]++;
    if (verdict === "fail") counts.failures[rule] = (counts.failures[rule] ?? 0) + 1;
  }
  return counts;
}

/** The sandbox as far as a learner sees it: without counts of others, scenarios and traffic. */
function withSandbox(state: UiState, { version, baseUrl, clock, merchant }: RoomSandboxReply): UiState {
  const sandbox: SandboxOverviewReply = {
    ...{ name: "merchant-sandbox", version, pid: 0, baseUrl, clock, life: "on", database: null, service: null },
    ...{
      merchants: [merchant],
      signature: plainSignature,
      pendingDeliveries: 0,
      scenarios: [],
      traffic: [],
      made: NO_COUNTS,
      failedDeliveries: 0,
      links: {},
    },
    kept: { requests: 0, attempts: 0, verdicts: 0 },
  };
  const learning = { ...state.learning, kind: "learner", isGuest: true, id: merchant.id } as const;
  return applySandboxIndex({ ...state, run: "room", learning }, sandbox);
}
