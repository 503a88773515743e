// Applies what the live stream sends to a running dashboard.

import { realNow } from "../src/kernel/clock.ts";
import { panes } from "./panes/index.ts";
import { type RunningDashboard, refresh } from "./run-effects.ts";
import { applyConnection, applyMessage, applyTime, isReset } from "./state/apply-message.ts";
import { type UiState, withNotice } from "./state/state.ts";
import type { LiveHandlers } from "./wire/live.ts";

export const streamHandlers = (current: () => RunningDashboard, change: (next: UiState) => void): LiveHandlers => ({
  message(message) {
    change(applyMessage(applyTime(current().state, realNow()), message, panes));
    // The counts of pending and failed deliveries are those from before.
    if (message.type === "digest" && message.items.some(isReset)) refresh(current());
  },
  unknown: (count) => change(withNotice(current().state, `Messages of another version were not shown: ${count}`, "yellow")),
  connection(connection) {
    change(applyConnection(applyTime(current().state, realNow()), connection));
    // Polled panes fill at once instead of at the next second.
    if (connection.phase === "live") refresh(current());
  },
});
