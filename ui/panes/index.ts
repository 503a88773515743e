// The panes, in the order of their tabs.

import type { State } from "../state/state.ts";
import { board } from "./board.ts";
import { deliveries } from "./deliveries.ts";
import { faults } from "./faults.ts";
import { lesson } from "./lesson.ts";
import { limits } from "./limits.ts";
import type { Pane } from "./pane.ts";
import { requests } from "./requests.ts";
import { verdicts } from "./verdicts.ts";

export const panes: readonly Pane[] = [requests, deliveries, limits, faults, verdicts, lesson, board];

/** Those that there are now; their digits are their places among these. */
export const panesOf = (state: State): readonly Pane[] => panes.filter(({ isOn }) => isOn?.(state) ?? true);

export const paneNamed = (name: string): Pane => panes.find((pane) => pane.name === name) ?? requests;
