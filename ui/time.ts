// Sandbox times as a person counts them.

import { isoTime, parseTime } from "../src/kernel/clock.ts";
import { type State, sandboxNow } from "./state/state.ts";

export const momentOf = (iso: string) => parseTime(iso) ?? 0;

/** Whole seconds until a sandbox time, none once it is over. */
export const remainingOf = (state: State, moment: number) => Math.max(0, Math.ceil((moment - sandboxNow(state)) / 1_000));

/** `09:12:44.130`. */
export const timeOfDay = (moment: number) => isoTime(moment).slice(11, 23);

/** `2026-01-05 09:12:44.130`. */
export const wholeTime = (moment: number) => isoTime(moment).slice(0, 23).replace("T", " ");
