// The timeline of the run so far, as it grows.

import type { AttemptMessage, RequestMessage } from "../../src/contracts/live-messages.ts";
import type { VerdictMessage } from "../../src/contracts/verdict.ts";
import { openReference } from "../keys/references.ts";
import { valuesOf } from "../state/state.ts";
import type { BrowserDashboard } from "./browser-dashboard.ts";
import { ClockSlider } from "./clock-slider.tsx";
import { type Mark, Timeline } from "./timeline.tsx";

export function TimelineView({ dashboard }: { dashboard: BrowserDashboard }) {
  const { state } = dashboard;
  const open = ({ pane, id }: Mark) =>
    dashboard.change((before) => openReference({ ...before, overlays: [], notice: undefined }, { pane, id }));
  return (
    <section class="view" tabIndex={0} aria-label="Timeline">
      <div class="list-head">
        <h2>Timeline</h2>
      </div>
      <ClockSlider dashboard={dashboard} />
      <Timeline
        requests={valuesOf<RequestMessage>(state, "requests")}
        attempts={valuesOf<AttemptMessage>(state, "deliveries")}
        verdicts={valuesOf<VerdictMessage>(state, "verdicts")}
        onOpen={open}
      />
    </section>
  );
}
