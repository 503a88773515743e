// A dashboard whose sandbox has a learner, without a terminal.

import { pollLearner } from "../../ui/state/learning.ts";
import type { Effect, Learning } from "../../ui/state/state.ts";
import { perform } from "../../ui/terminal/platform.ts";
import { openTestDashboard, type TestDashboard } from "./dashboard.ts";
import { open } from "./sandbox.ts";

export const OWN: Learning = { id: "mer_lodge" };

/** A dashboard with a learner. Polls replace the live stream. */
export async function learn(lesson = "first-call", columns = 80, rows = 24) {
  const bench = await open();
  await bench.control("POST", "/learners", { hintAfter: "0s" });
  await bench.control("POST", "/learners/mer_lodge/lesson", { name: lesson });
  const desk = await openTestDashboard(bench.url, columns, rows);
  desk.state = { ...desk.state, learning: OWN, pane: "lesson" };
  await pollOnce(desk);
  return { bench, desk };
}

/** Polls, as the dashboard does every second. */
export async function pollOnce(desk: TestDashboard): Promise<void> {
  const act = async (effect: Effect): Promise<void> => {
    if (effect.kind !== "call") return;
    const step = effect.onReply(desk.state, await perform(desk.state.target, effect.call));
    desk.state = step.state;
    for (const next of step.effects) await act(next);
  };
  for (const effect of pollLearner(desk.state)) await act(effect);
}
