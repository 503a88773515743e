// The detail of a learner: current step, current hint and past steps.

import type { Learner } from "../../generated/control-api.ts";
import type { RequestMessage } from "../../src/contracts/live-messages.ts";
import type { Detail } from "../overlays/detail.ts";
import { BOARD_PANE } from "../state/learning.ts";
import { type UiState, valuesOf } from "../state/state.ts";
import { sanitize } from "../terminal/cells.ts";
import { styled, symbols, type Theme } from "../terminal/style.ts";
import { count, countdown } from "../view/format.ts";
import { labelled, paragraph, section } from "./detail-lines.ts";
import { requestLinks } from "./row-lines.ts";

export const learnerDetail = (opened: Learner): Detail => ({
  title: opened.name,
  lines(_, state, width) {
    const { theme } = state;
    const newest = valuesOf<Learner>(state, BOARD_PANE).find(({ id }) => id === opened.id);
    const { id, title, step, steps, stepTitle, ticked, hints, hint, elapsed, left } = newest ?? opened;
    const progress = step === null ? `none, ${count(ticked)} of ${count(steps)} completed` : `${step} of ${steps}: ${stepTitle}`;
    return [
      ...labelled(theme, width, "merchant", id),
      ...labelled(theme, width, "lesson", title ?? "none yet"),
      ...labelled(theme, width, "step", progress),
      ...(step === null ? [] : labelled(theme, width, "time on step", countdown(elapsed / 1_000))),
      ...(hints === 0 ? [] : labelled(theme, width, "hints", count(hints))),
      ...(hint === null ? [] : section(theme, "Current hint", paragraph(theme, width, hint))),
      ...section(
        theme,
        "Past steps, oldest first",
        left.map((past) => pastStepLine(theme, past)),
      ),
      ...section(theme, "Recent requests, oldest first", requestLinks(requestsOf(state, id), width)),
      ...(newest ? [] : section(theme, "Removed", paragraph(theme, width, "This learner is no longer on the board."))),
    ];
  },
});

const MAX_REQUESTS = 10;

const requestsOf = (state: UiState, merchant: string): RequestMessage[] =>
  valuesOf<RequestMessage>(state, "requests")
    .filter((request) => request.merchant === merchant)
    .slice(-MAX_REQUESTS);

function pastStepLine(theme: Theme, { lesson, step, how }: Learner["left"][number]): string {
  const { good, skipped } = symbols(theme);
  const isCompleted = how === "ticked";
  const text = `  ${isCompleted ? good : skipped} ${sanitize(lesson)} ${step}  ${isCompleted ? "completed" : how}`;
  return styled(theme, text, ...(isCompleted ? (["green"] as const) : []));
}
