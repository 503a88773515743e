// Sandbox times as a person counts them.

import { parseTime } from "../src/kernel/clock.ts";
import { type State, sandboxNow } from "./state/state.ts";

export const momentOf = (iso: string) => parseTime(iso) ?? 0;

/** Whole seconds until a sandbox time, none once it is over. */
export const remainingOf = (state: State, moment: number) => Math.max(0, Math.ceil((moment - sandboxNow(state)) / 1_000));
