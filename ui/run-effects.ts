// Applies keys and messages of the stream to a running dashboard, and runs their effects: calls, the clipboard, the terminal, leaving.

import { controlCalls } from "../src/client/control-call.ts";
import type { HttpTarget } from "../src/client/http-transport.ts";
import { realNow } from "../src/kernel/clock.ts";
import { type Call, type Perform, RefusedCall } from "./connection/calls.ts";
import type { LiveHandlers, LiveStream } from "./connection/live-stream.ts";
import { fetchLookups } from "./controls/form-fields.ts";
import { loadRows } from "./load-rows.ts";
import { panes, visiblePanes } from "./panes/index.ts";
import { applyConnection, applyMessage, applyPolledRows, applySandboxIndex, applyTime, isReset } from "./state/apply-message.ts";
import { pollLearner } from "./state/learning.ts";
import { type Effect, listOf, type StateUpdate, type TaskTools, type UiState } from "./state/state.ts";
import { pollTrends, TRENDS_PANE } from "./state/trends.ts";
import { update, withNotice } from "./state/updates.ts";
import { placementOf } from "./view/layout.ts";
import type { PaintScheduler } from "./view/paint-scheduler.ts";

/** The functions that differ between a terminal and a browser. */
export interface Platform {
  perform: Perform;
  saveFile: TaskTools["saveFile"];
  /** Copies a text to the clipboard; returns the notice of a text that cannot be copied. */
  copy(text: string): string | undefined;
  bell(): void;
  repaint(): void;
  suspend(): void;
  /** Polls instead of the calls of `refresh`. Default: those. */
  poll?(dashboard: RunningDashboard): void;
}

/** A running dashboard; `state` is the only mutable state in the dashboard. */
export interface RunningDashboard {
  target: HttpTarget;
  platform: Platform;
  scheduler: Pick<PaintScheduler, "paintNow" | "paintSoon">;
  stream: LiveStream;
  state: UiState;
  leave(reason: LeaveReason): void;
}

/** `q`, Ctrl-C, `s` for plain lines, or the terminal hung up. */
export type LeaveReason = "quit" | "interrupt" | "plain" | "hangup";

export function applyUpdate(dashboard: RunningDashboard, { state, effects }: StateUpdate): void {
  const loading = loadRows(state);
  dashboard.state = loading.state;
  for (const effect of [...effects, ...loading.effects]) runEffect(dashboard, effect);
}

function runEffect(dashboard: RunningDashboard, effect: Effect): void {
  const { platform, stream, state } = dashboard;
  if (effect.kind === "call") performCall(dashboard, effect);
  else if (effect.kind === "task") runTask(dashboard, effect);
  else if (effect.kind === "copy") copyToClipboard(dashboard, effect.text);
  else if (effect.kind === "bell") platform.bell();
  else if (effect.kind === "subscribe")
    stream.subscribe({ requests: listOf(state, "requests").filter, deliveries: listOf(state, "deliveries").filter });
  else if (effect.kind === "refresh") refresh(dashboard);
  else if (effect.kind === "repaint") platform.repaint();
  else if (effect.kind === "suspend") platform.suspend();
  else dashboard.leave(effect.kind);
}

function runTask(dashboard: RunningDashboard, { run }: Effect & { kind: "task" }): void {
  const apply = (change: (state: UiState) => UiState) => {
    dashboard.state = change(dashboard.state);
    dashboard.scheduler.paintNow();
  };
  const { target, platform } = dashboard;
  run({ target, ...platform }).then(apply, (error: Error) => apply((state) => withNotice(state, error.message, "failure")));
}

function performCall(dashboard: RunningDashboard, { call, onReply, onError }: Effect & { kind: "call" }): void {
  const apply = (next: StateUpdate) => {
    applyUpdate(dashboard, next);
    dashboard.scheduler.paintNow();
  };
  dashboard.platform
    .perform(dashboard.target, call)
    .then(
      (reply) => apply(onReply(dashboard.state, reply)),
      (error: Error) => {
        const fields = error instanceof RefusedCall ? error.fields : [];
        apply(onError?.(dashboard.state, error.message, fields) ?? update(withNotice(dashboard.state, error.message, "failure")));
      },
    )
    .catch((error: Error) => apply(update(unreadable(dashboard.state, error))));
}

/** Another version of the sandbox, or another program, may reply with other fields. */
const unreadable = (state: UiState, error: Error) =>
  withNotice(state, `A reply of this sandbox could not be read: ${error.message}`, "failure");

function copyToClipboard(dashboard: RunningDashboard, text: string): void {
  const problem = dashboard.platform.copy(text);
  if (problem !== undefined) dashboard.state = withNotice(dashboard.state, problem, "yellow");
}

/** Polls the sandbox: after every call of a key, and every second while connected. */
export function refresh(dashboard: RunningDashboard): void {
  if (dashboard.platform.poll) dashboard.platform.poll(dashboard);
  else if (dashboard.state.connection.phase === "live") pollSandbox(dashboard);
}

function pollSandbox(dashboard: RunningDashboard): void {
  const show = (state: UiState) => {
    applyUpdate(dashboard, update(state));
    dashboard.scheduler.paintSoon();
  };
  const poll = <Reply>(call: Call<Reply>, apply: (state: UiState, body: Reply) => UiState) =>
    dashboard.platform
      .perform(dashboard.target, call)
      .then(
        ({ body }) => show(apply({ ...dashboard.state, now: realNow() }, body)),
        // The next poll is a second away, and the connection state shows an outage.
        () => {},
      )
      .catch((error: Error) => show(unreadable(dashboard.state, error)));
  const trends = placementOf(dashboard.state, TRENDS_PANE).width > 0 ? pollTrends(dashboard.state) : [];
  for (const effect of [...fetchLookups(dashboard.state), ...pollLearner(dashboard.state), ...trends]) runEffect(dashboard, effect);
  void poll(controlCalls.overview(), applySandboxIndex);
  for (const { name, poll: rows, alarm } of visiblePanes(dashboard.state))
    if (rows && (alarm || placementOf(dashboard.state, name).width > 0))
      void poll(rows.call, (state, body) => applyPolledRows(state, name, rows.read(body)));
}

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
