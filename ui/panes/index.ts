// The panes, in the order of their tabs.

import type { UiState } from "../state/state.ts";
import { app } from "./app.ts";
import { deliveries } from "./deliveries.ts";
import { endpoints } from "./endpoints.ts";
import { events } from "./events.ts";
import { faults } from "./faults.ts";
import { lesson } from "./lesson.ts";
import { merchants } from "./merchants.ts";
import { type Pane, textPane } from "./pane.ts";
import { rateLimits } from "./rate-limits.ts";
import { records } from "./records.ts";
import { requests } from "./requests.ts";
import { scenarios } from "./scenarios.ts";
import { trends } from "./trends.ts";
import { verdicts } from "./verdicts.ts";

export const panes: readonly Pane[] = [
  requests,
  deliveries,
  rateLimits,
  faults,
  verdicts,
  trends,
  merchants,
  scenarios,
  lesson,
  app,
  endpoints,
  events,
  records,
];

/** A pane of the page only: a terminal cannot show its forms. */
export const explorer = textPane({
  name: "explorer",
  title: "Explorer",
  isShown: ({ isPage }) => isPage,
  titleNote: () => "",
  textLines: () => [],
  keys: [],
});

/** The explorer comes last, so that a digit goes to the same pane in the terminal and on the page. */
const all = [...panes, explorer];

/** The panes shown now; the digit keys count these. */
export const visiblePanes = (state: UiState): readonly Pane[] => all.filter(({ isShown }) => isShown?.(state) ?? true);

export const paneNamed = (name: string): Pane => all.find((pane) => pane.name === name) ?? requests;
