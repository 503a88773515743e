// The panes, in the order of their tabs.

import { deliveries } from "./deliveries.ts";
import { faults } from "./faults.ts";
import { limits } from "./limits.ts";
import type { Pane } from "./pane.ts";
import { requests } from "./requests.ts";
import { verdicts } from "./verdicts.ts";

export const panes: readonly Pane[] = [requests, deliveries, limits, faults, verdicts];

export const paneNamed = (name: string): Pane => panes.find((pane) => pane.name === name) ?? requests;
