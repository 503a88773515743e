// The views of the page beside the panes of the dashboard: pictures and forms that a terminal cannot show, in the order of their tabs.

import type { ComponentType } from "preact";
import type { FaceView } from "../state/state.ts";
import type { BrowserDashboard } from "./browser-dashboard.ts";
import { ExplorerView } from "./explorer-view.tsx";
import { ReportView } from "./report-view.tsx";
import { TimelineView } from "./timeline-view.tsx";

export interface View extends FaceView {
  component: ComponentType<{ dashboard: BrowserDashboard }>;
}

export const views: readonly View[] = [
  { name: "timeline", title: "Timeline", component: TimelineView },
  { name: "explorer", title: "Explorer", component: ExplorerView },
  { name: "report", title: "Report", component: ReportView },
];
