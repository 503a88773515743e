// Opens the HTML report of this run in a new tab: the same page that `exec --report html=FILE` writes.

import { controlCalls } from "../../src/client/control-call.ts";
import { update, withNotice } from "../state/updates.ts";
import type { BrowserDashboard, DashboardProps } from "./browser-dashboard.ts";
import { perform } from "./fetch-calls.ts";

/** A button, because a link could carry the control token only in its address. */
export const ReportLink = ({ dashboard }: DashboardProps) => (
  <button type="button" class="quiet" title="Open the report of this run in a new tab" onClick={() => void openReport(dashboard)}>
    Report ↗
  </button>
);

/** Opens the report as a blob. The blob is never revoked, so that its tab can be reloaded. */
async function openReport(dashboard: BrowserDashboard): Promise<void> {
  const fail = (message: string) => dashboard.change((state) => update(withNotice(state, message, "yellow")));
  try {
    const { body } = await perform(dashboard.state.target, controlCalls.report({ format: "html" }));
    if (!open(URL.createObjectURL(new Blob([String(body)], { type: "text/html" }))))
      fail("The browser blocked the tab of the report. Allow it, and press Report again");
  } catch (error) {
    fail((error as Error).message);
  }
}
