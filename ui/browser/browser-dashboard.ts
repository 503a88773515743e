// A running dashboard in a browser. It shares the state, the stream and the effects with the terminal's dashboard;
// Preact paints it.

import type { HttpTarget } from "../../src/client/http-transport.ts";
import { afterRealTime, realNow } from "../../src/kernel/clock.ts";
import { openLive } from "../connection/live-stream.ts";
import { addressOf, goToAddress } from "../panes/address.ts";
import { applyTime } from "../panes/apply-message.ts";
import { paneNamed, panes, visiblePanes } from "../panes/index.ts";
import { handleKey } from "../panes/keys/key-bindings.ts";
import {
  applyUpdate,
  hasPreview,
  type Platform,
  type RunningDashboard,
  refresh,
  streamHandlers,
  updatePreview,
} from "../panes/run-effects.ts";
import { PREVIEW_COLUMNS } from "../state/layout.ts";
import { findLearner } from "../state/learning.ts";
import { initialState, type Size, type StateUpdate, type UiState } from "../state/state.ts";
import { update, withNotice } from "../state/updates.ts";
import { symbols } from "../text/style.ts";
import { createPaintScheduler } from "../view/paint-scheduler.ts";
import { perform } from "./fetch-calls.ts";
import { openSocket } from "./web-socket.ts";

export type BrowserDashboard = ReturnType<typeof openBrowserDashboard>;

export interface DashboardProps {
  dashboard: BrowserDashboard;
}

/** The lines of the bars, the border and the headings around the rows in a terminal. */
const OTHER_LINES = 7;
/** The least width, in pixels, of a window that shows the details of the selected row beside the list. */
const PREVIEW_FROM = 1_280;
/** The number of rows that a list is assumed to show until it has been measured. */
const FIRST_ROWS = 20;
/** The panes are shown one at a time, as in a narrow terminal. */
const sizeFor = (rows: number): Size => ({
  columns: innerWidth < PREVIEW_FROM ? 100 : PREVIEW_COLUMNS,
  rows: Math.max(rows, 10) + OTHER_LINES,
});

/** Any colours: the page has its own colour for each style. */
const THEME = {
  colours: true,
  unicode: true,
  tones: { red: "31", green: "32", yellow: "33", blue: "34", magenta: "35", cyan: "36" },
};

/**
 * Whether the rows of the pane are polled. If they are, the dashboard polls every second. Otherwise it polls every two
 * seconds, because a call costs a browser half a millisecond.
 */
const isPolled = ({ pane }: UiState) => paneNamed(pane).poll !== undefined;

/** Updates the preview, unless the user is reading it. */
const previewed = (state: UiState, isRead: boolean) =>
  isRead && hasPreview(state) ? update(state) : updatePreview(state, false);

export function openBrowserDashboard({ target, paint }: { target: HttpTarget; paint(): void }) {
  const first = initialState(panes, { target, theme: THEME, size: sizeFor(FIRST_ROWS), now: realNow(), isPage: true });
  const { state } = goToAddress(first, location.hash);
  let isPollDue = true;
  const scheduler = createPaintScheduler("page", {
    paint() {
      if (!document.hidden) paint();
      showAddress(dashboard.state);
      showTitle(dashboard.state);
    },
    everySecond() {
      change(applyTime(dashboard.state, realNow()));
      isPollDue = !isPollDue;
      if (isPollDue || isPolled(dashboard.state)) refresh(dashboard);
    },
  });
  let isPreviewRead = false;
  const change = (next: UiState) => {
    applyUpdate(dashboard, previewed(next, isPreviewRead));
    scheduler.paintSoon();
  };
  document.addEventListener("visibilitychange", scheduler.paintNow);
  const handlers = streamHandlers(() => dashboard, change);
  const stream = openLive(
    { target, openSocket, mode: "digests", from: { run: undefined, seq: undefined } },
    {
      ...handlers,
      connection(connection) {
        handlers.connection(connection);
        if (connection.phase === "live") applyUpdate(dashboard, findLearner(dashboard.state));
      },
    },
  );
  const platform = openPlatform((text) => change(withNotice(dashboard.state, text, "yellow")));
  const dashboard: RunningDashboard = {
    target,
    platform,
    scheduler,
    stream,
    state,
    updatePreview: () => applyUpdate(dashboard, previewed(dashboard.state, isPreviewRead)),
    leave: () => {},
  };
  addEventListener("popstate", () => apply((before) => goToAddress(before, location.hash)));
  const apply = (next: (state: UiState) => StateUpdate) => {
    applyUpdate(dashboard, next({ ...dashboard.state, now: realNow() }));
    applyUpdate(dashboard, updatePreview(dashboard.state, true));
    scheduler.paintNow();
  };
  let rowCount = FIRST_ROWS;
  /** Sets how many rows the list shows. This number determines the length of a page and which gaps are loaded. */
  const resize = (height = rowCount) => {
    rowCount = height;
    const size = sizeFor(height);
    const { columns, rows } = dashboard.state.size;
    if (size.rows === rows && size.columns === columns) return;
    // `change` instead of `apply`: a resize is not a key, so it does not preview another row at once.
    change({ ...dashboard.state, size });
    scheduler.paintNow();
  };
  // A list without rows is not measured, but a resize may add or remove the preview beside it.
  addEventListener("resize", () => resize());
  return {
    get state(): UiState {
      return dashboard.state;
    },
    press: (key: string) => apply((before) => handleKey(before, key)),
    /** Applies a change that the pointer or an input made. */
    change: apply,
    /** Keeps the previewed row while the user reads it, although newer rows arrive. A key still shows another row. */
    holdPreview(isRead: boolean): void {
      isPreviewRead = isRead;
    },
    resize,
  };
}

/**
 * Shows the address in the browser. A new view or detail adds an entry to the history; a filter or a row replaces the
 * current entry.
 */
function showAddress(state: UiState): void {
  const address = addressOf(state);
  if (state.wanted || address === location.hash) return;
  const placeIn = (one: string) => one.replace(/[?&](?:filter|row)=[^&]*/g, "");
  const isStep = location.hash !== "" && placeIn(address) !== placeIn(location.hash);
  history[isStep ? "pushState" : "replaceState"](null, "", address);
}

/** Shows failures in the title, which stays visible while another tab is in front. */
function showTitle(state: UiState): void {
  const { bad } = symbols(state.theme);
  const failures = visiblePanes(state).flatMap(({ title, alarm }) => {
    const mark = alarm?.(state) ?? "";
    return mark.startsWith(bad) ? [`${mark} ${title}`] : [];
  });
  const title = [...failures, "merchant-sandbox"].join(" · ");
  if (document.title !== title) document.title = title;
}

function openPlatform(warn: (text: string) => void): Platform {
  return {
    perform,
    copy(text) {
      // Browsers offer no clipboard to an insecure origin, such as a container's address.
      if (!navigator.clipboard) return "This page may not use the clipboard. Press ! to show the text";
      navigator.clipboard
        .writeText(text)
        .catch(() => warn("The browser refused the clipboard. Press ! to show the text"));
      return undefined;
    },
    open(url) {
      return this.copy(url) ?? `Copied the address of this view: ${url}`;
    },
    async save({ path, text }) {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
      link.download = path;
      link.click();
      // Some browsers read the blob only after the click has returned.
      afterRealTime(10_000, () => URL.revokeObjectURL(link.href));
      return `Downloaded ${path}`;
    },
  };
}
