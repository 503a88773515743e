// The section of details that lists what an action caused, each step below its cause and with a link to it.

import type { TimelineStep, Trace, TraceStep } from "../../../generated/control-api.ts";
import { controlCalls } from "../../../src/client/control-call.ts";
import { stepText } from "../../../src/client/trace-text.ts";
import type { AttemptMessage } from "../../../src/contracts/live-messages.ts";
import { type UiState, valuesOf } from "../../state/state.ts";
import { symbols } from "../../text/style.ts";
import { type DetailLine, type DetailWriter, linkTo, STEP_PANES } from "./detail-lines.ts";

/** Fetches what caused a request, an event or a delivery attempt, and what it caused. */
export const traceCall = (id: string) => controlCalls.traces.get({ id });

/** The call again, if the trace may have changed. */
export const outdatedTrace = (id: string, { trace }: { trace?: Trace }, state: UiState) =>
  areOutdated(state, trace?.steps) ? { trace: traceCall(id) } : {};

/**
 * Whether these steps may have changed since they were fetched: a delivery was pending, or the newest attempt of their
 * events is not among them.
 */
export function areOutdated(state: UiState, steps: readonly (TraceStep | TimelineStep)[] = []): boolean {
  const isEvent = ({ kind }: TraceStep | TimelineStep) => kind === "event" || kind === "clock";
  if (steps.some((step) => isEvent(step) && step.result?.includes("pending"))) return true;
  const ids = new Set(steps.map(({ id }) => id));
  const newest = valuesOf<AttemptMessage>(state, "deliveries").findLast(({ eventId }) => ids.has(eventId));
  return newest !== undefined && !ids.has(newest.id);
}

/**
 * The section is empty for a single request without a trace id, because the details already show everything about it.
 * The step whose details are open is marked.
 */
export function traceSection(
  { theme, section, field, text, row }: DetailWriter,
  reply: Trace | undefined,
  opened: string,
): DetailLine[] {
  const isSimple = reply?.trace == null && (reply?.steps ?? []).filter(({ kind }) => kind === "request").length < 2;
  if (!reply || isSimple) return [];
  const lines = reply.steps.flatMap((step): DetailLine[] => {
    const indent = "  ".repeat(step.depth + 1);
    const [first = "", ...rest] = row(stepText(step), indent);
    if (step.id !== opened) return linkTo(STEP_PANES[step.kind], step.id, [first, ...rest]);
    return [symbols(theme).cursor + first.slice(1), ...rest];
  });
  const more = reply.has_more ? text(`The first ${reply.steps.length} steps are listed.`, "dim") : [];
  return section("Trace", [...field("trace id", reply.trace), ...lines, ...more]);
}
