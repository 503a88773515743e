// The views of the page beside the panes of the dashboard, in the order of their tabs.

import type { ComponentType } from "preact";
import type { BrowserDashboard } from "./browser-dashboard.ts";
import { ExplorerView } from "./explorer-view.tsx";
import { MerchantsView } from "./merchants-view.tsx";
import { ReportView } from "./report-view.tsx";
import { TimelineView } from "./timeline-view.tsx";

export interface View {
  name: string;
  title: string;
  component: ComponentType<{ dashboard: BrowserDashboard }>;
}

export const views: readonly View[] = [
  { name: "merchants", title: "Merchants", component: MerchantsView },
  { name: "timeline", title: "Timeline", component: TimelineView },
  { name: "explorer", title: "Explorer", component: ExplorerView },
  { name: "report", title: "Report", component: ReportView },
];
