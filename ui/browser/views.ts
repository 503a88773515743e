// The views of the page beside the panes of the dashboard, in the order of their tabs.

import type { ComponentType } from "preact";
import type { BrowserDashboard } from "./browser-dashboard.ts";
import { MerchantsView } from "./merchants-view.tsx";

export interface View {
  name: string;
  title: string;
  component: ComponentType<{ dashboard: BrowserDashboard }>;
}

export const views: readonly View[] = [{ name: "merchants", title: "Merchants", component: MerchantsView }];
