// Opens what a row or a link refers to: the detail of another row, fetched if its list does not have it.

import type { FaultRule, RateWindow } from "../../generated/control-api.ts";
import type { AttemptMessage, RequestMessage } from "../../src/contracts/live-messages.ts";
import type { VerdictMessage } from "../../src/contracts/verdict.ts";
import { attemptCall } from "../details/delivery.ts";
import type { Reference } from "../details/detail-lines.ts";
import { affectedRequests } from "../details/fault.ts";
import { refusedRequests } from "../details/merchant.ts";
import { causedAttemptsCall } from "../details/request.ts";
import { isDetail, isStillAt, topDetail } from "../overlays/detail.ts";
import { paneNamed } from "../panes/index.ts";
import { selectedRow } from "../state/list.ts";
import { listOf, type StateUpdate, type UiState } from "../state/state.ts";
import { callEffect, closeTopOverlay, update, withNotice } from "../state/updates.ts";

/** Opens a detail. If it is the one below the top detail, closes that instead, so that going to and fro does not pile them up. */
export function openReference(state: UiState, { pane, id }: Reference): StateUpdate {
  const below = state.overlays.at(-2);
  const isBelow = below && isDetail(below) && below.about.pane === pane && below.about.id === id;
  if (isBelow && topDetail(state)) return update(closeTopOverlay(state));
  return paneNamed(pane).openById(state, id);
}

/** The row that has the focus: that of the top detail, otherwise the selected one. */
function focused(state: UiState): { pane: string; value: unknown } | undefined {
  const detail = topDetail(state);
  if (detail) return detail.about;
  const row = selectedRow(listOf(state));
  return row && !row.gap ? { pane: state.pane, value: row.value } : undefined;
}

const nothing = (state: UiState, text: string) => update(withNotice(state, text, "yellow"));
const toRequest = (state: UiState, id: string | undefined) =>
  id === undefined ? nothing(state, "This row has no request") : openReference(state, { pane: "requests", id });

const jumps: Record<string, (state: UiState, value: never) => StateUpdate> = {
  requests(state, { id }: RequestMessage) {
    const effect = callEffect(causedAttemptsCall(id, 1), (later, { body: { data } }) => {
      const [newest] = data;
      if (!isStillAt(state, later)) return update(later);
      return newest ? openReference(later, { pane: "deliveries", id: newest.id }) : nothing(later, `${id} caused no delivery yet`);
    });
    return update(state, effect);
  },
  deliveries(state, { id, eventId }: AttemptMessage) {
    const effect = callEffect(attemptCall(id), (later, { body: { request } }) => {
      if (!isStillAt(state, later)) return update(later);
      return request === null ? nothing(later, `No request caused ${eventId}`) : toRequest(later, request);
    });
    return update(state, effect);
  },
  verdicts(state, { requests, attempts }: VerdictMessage) {
    const [attempt] = attempts.slice(-1);
    if (requests.length > 0 || attempt === undefined) return toRequest(state, requests.at(-1));
    return openReference(state, { pane: "deliveries", id: attempt });
  },
  faults: (state, { id }: FaultRule) => toRequest(state, affectedRequests(state, id).at(-1)?.id),
  limits: (state, { merchant }: RateWindow) => toRequest(state, refusedRequests(state, merchant).at(-1)?.id),
};

export const canJump = (state: UiState) => jumps[focused(state)?.pane ?? ""] !== undefined;

/** From a request to its newest delivery, and from any other row to its newest request. */
export function jump(state: UiState): StateUpdate {
  const { pane = "", value } = focused(state) ?? {};
  return jumps[pane]?.(state, value as never) ?? update(state);
}
