// Opens the HTML report of this run in a new tab, the page that `exec --report html=FILE` writes.

import { controlCalls } from "../../src/client/control-call.ts";
import { CONTROL_PREFIX } from "../../src/contracts/paths.ts";
import { update, withNotice } from "../state/updates.ts";
import type { BrowserDashboard } from "./browser-dashboard.ts";
import { perform } from "./fetch-calls.ts";

const REPORT = controlCalls.report({ format: "html" });

/** A link, whose address has the newest report at each reload. With a token it is a button: a link cannot carry the token outside of its address. */
export function ReportLink({ dashboard }: { dashboard: BrowserDashboard }) {
  if (dashboard.state.target.token !== undefined)
    return (
      <button type="button" class="quiet" title="Open the report of this run in a new tab" onClick={() => void openReport(dashboard)}>
        Report ↗
      </button>
    );
  return (
    <a href={CONTROL_PREFIX + REPORT.path} target="_blank" rel="noopener" title="Open the report of this run in a new tab">
      Report ↗
    </a>
  );
}

/** Fetches the report with the token in its header, and opens it as a blob. The blob stays, so that its tab can be reloaded. */
async function openReport(dashboard: BrowserDashboard): Promise<void> {
  const fail = (message: string) => dashboard.change((state) => update(withNotice(state, message, "yellow")));
  try {
    const { body } = await perform(dashboard.state.target, REPORT);
    if (!open(URL.createObjectURL(new Blob([String(body)], { type: "text/html" }))))
      fail("The browser blocked the tab of the report. Allow it, and press Report again");
  } catch (error) {
    fail((error as Error).message);
  }
}
