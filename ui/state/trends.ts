// The trends in the state: for all requests, and for the operation of the selected request.

import { controlCalls } from "../../src/client/control-call.ts";
import type { RequestMessage } from "../../src/contracts/live-messages.ts";
import { type Effect, listOf, type TrendViews, type UiState } from "./state.ts";
import { pollEffect, update } from "./updates.ts";

export const TRENDS_PANE = "trends";

/** The operation of the selected request; undefined while the list follows, because each new request would change it. */
export const selectedOperation = (state: UiState): string | undefined =>
  (listOf(state, "requests").cursor?.value as RequestMessage | undefined)?.operation ?? undefined;

export function pollTrends(state: UiState): Effect[] {
  const operation = selectedOperation(state);
  return [pollTrend("all", {}), ...(operation === undefined ? [] : [pollTrend("selected", { operation })])];
}

const pollTrend = (name: keyof TrendViews, query: { operation?: string }): Effect =>
  pollEffect(controlCalls.trend(query), (state, { body }) => update({ ...state, trends: { ...state.trends, [name]: body } }));
