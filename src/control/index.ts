// The catalogue of the control plane, in the order of its reference.

import { advanceClock, setClock, showClock } from "./clock.ts";
import type { ControlOperation } from "./console.ts";
import { listAssumptions, listOperations, showControlOpenapi, showHealth, showIndex, showOpenapi } from "./overview.ts";
import { changeRecord, createRecord } from "./records.ts";

export const controlCatalogue: readonly ControlOperation[] = [
  showIndex,
  showHealth,
  listOperations,
  showOpenapi,
  showControlOpenapi,
  listAssumptions,
  showClock,
  setClock,
  advanceClock,
  createRecord,
  changeRecord,
];
