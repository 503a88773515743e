// Polls the data of a learner's page: the learner's progress, and the requests, deliveries and verdicts of their
// merchant. Learners may not read the live stream, because it has the requests of all merchants.

import type { SandboxOverviewReply } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import { NO_COUNTS } from "../../src/contracts/live-messages.ts";
import type { VerdictMessage } from "../../src/contracts/verdict.ts";
import { USUAL_SIGNATURE } from "../../src/contracts/webhook.ts";
import { realNow } from "../../src/kernel/clock.ts";
import { visiblePanes } from "../panes/index.ts";
import type { Pane } from "../panes/pane.ts";
import { applyUpdate, type RunningDashboard } from "../run-effects.ts";
import { applyConnection, applyPolledRows, applySandboxIndex } from "../state/apply-message.ts";
import { pollLearner } from "../state/learning.ts";
import type { Row } from "../state/list.ts";
import { type UiState, valuesOf } from "../state/state.ts";
import { update } from "../state/updates.ts";

/** Real milliseconds between two polls. */
const POLL_MS = 2_000;

/** Reads the key from `#learner/KEY`, a part of the address that browsers never send. */
export const learnerKeyIn = (hash: string): string | undefined => /^#learner\/([\w-]+)$/.exec(hash)?.[1];

export async function pollAsLearner(dashboard: RunningDashboard): Promise<void> {
  const show = (next: (state: UiState) => UiState) => {
    applyUpdate(dashboard, update(next({ ...dashboard.state, now: realNow() })));
    dashboard.scheduler.paintSoon();
  };
  try {
    const sandbox = await readSandbox(dashboard);
    show((state) => withSandbox(applyConnection(state, { phase: "live" }), sandbox));
    applyUpdate(dashboard, update(dashboard.state, ...pollLearner(dashboard.state)));
    const panes = visiblePanes(dashboard.state);
    const pages = await Promise.all(panes.map((pane) => newestRows(dashboard, pane)));
    show((state) => panes.reduce((before, { name }, index) => withRows(before, name, pages[index]), state));
  } catch (error) {
    show((state) =>
      applyConnection(state, { phase: "reconnecting", retryInMs: POLL_MS, reason: (error as Error).message }),
    );
  }
}

/** Reads the sandbox with a learner's key, which lists only the learner's merchant. */
async function readSandbox({ target, platform, state }: RunningDashboard) {
  const [clock, merchants, health] = await Promise.all([
    platform.perform(target, controlCalls.clock.get()),
    platform.perform(target, controlCalls.merchants.list()),
    state.sandbox ? undefined : platform.perform(target, controlCalls.health()),
  ]);
  const [merchant] = merchants.body.data;
  if (!merchant) throw new Error("The merchant of this key was removed");
  return {
    version: health?.body.version ?? state.sandbox?.version ?? "",
    baseUrl: `${target.url}/v1`,
    clock: clock.body,
    merchant,
  };
}

/** The newest rows of the log, in its order; undefined for a pane without a log. */
async function newestRows({ target, platform }: RunningDashboard, { log }: Pane): Promise<Row[] | undefined> {
  const page = log?.page({ before: undefined, filter: "" });
  if (!page) return undefined;
  const { rows } = page.read((await platform.perform(target, page.call)).body);
  return rows.toSorted((one, other) => (one.order ?? 0) - (other.order ?? 0));
}

function withRows(state: UiState, name: string, rows: readonly Row[] | undefined): UiState {
  if (!rows) return state;
  const next = applyPolledRows(state, name, rows);
  return name === "verdicts"
    ? { ...next, made: { ...next.made, verdicts: countOf(valuesOf<VerdictMessage>(next, name)) } }
    : next;
}

function countOf(verdicts: readonly VerdictMessage[]) {
  const counts = { ...NO_COUNTS.verdicts, failures: {} as Record<string, number> };
  for (const { verdict, rule } of verdicts) {
    counts[verdict]++;
    if (verdict === "fail") counts.failures[rule] = (counts.failures[rule] ?? 0) + 1;
  }
  return counts;
}

/** The state with the sandbox as a learner sees it: without other merchants' counts, scenarios or traffic. */
function withSandbox(
  state: UiState,
  { version, baseUrl, clock, merchant }: Awaited<ReturnType<typeof readSandbox>>,
): UiState {
  const sandbox: SandboxOverviewReply = {
    ...{
      name: "merchant-sandbox",
      version,
      pid: 0,
      baseUrl,
      clock,
      life: "on",
      database: null,
      links: {},
    },
    ...{
      merchants: [merchant],
      scenarios: [],
      traffic: [],
      pendingDeliveries: 0,
      heldDeliveries: 0,
      failedDeliveries: 0,
    },
    signature: USUAL_SIGNATURE,
    ...{ made: NO_COUNTS, kept: { requests: 0, attempts: 0, verdicts: 0 } },
  };
  const learning = { ...state.learning, kind: "learner", isGuest: true, id: merchant.id } as const;
  return applySandboxIndex({ ...state, run: "room", learning }, sandbox);
}
