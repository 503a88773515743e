// The catalogue of the control plane, in the order of its reference.

import { auditReceiver } from "./audit.ts";
import { advanceClock, setClock, showClock } from "./clock.ts";
import type { ControlOperation } from "./console.ts";
import { addFault, changeFault, clearFaults, listFaults, removeFault, showFault, showFaultSchema } from "./faults.ts";
import { listMerchants, mintMerchant, removeMerchant, reset } from "./merchants.ts";
import { listAssumptions, listOperations, showControlOpenapi, showHealth, showIndex, showOpenapi } from "./overview.ts";
import { listWindows, setWindow } from "./rate-limits.ts";
import { changeRecord, createRecord } from "./records.ts";
import { showReport } from "./reports.ts";
import { listRequests, showRequest } from "./requests.ts";
import { listScenarios, showScenario, showScenarioSchema, startScenario, stopScenario } from "./scenarios.ts";
import { listSnapshots, removeSnapshot, restoreSnapshot, saveSnapshot } from "./snapshots.ts";
import { listTraffic, startTraffic, stopTraffic } from "./traffic.ts";
import { clearVerdicts, listVerdicts } from "./verdicts.ts";
import { verify } from "./verify.ts";
import { drain, enableEndpoint, explain, listAttempts, listEvents, replayAttempt, replayEvent, showAttempt } from "./webhooks.ts";

export const controlCatalogue: readonly ControlOperation[] = [
  showIndex,
  showHealth,
  listOperations,
  showOpenapi,
  showControlOpenapi,
  listAssumptions,
  listRequests,
  showRequest,
  listEvents,
  replayEvent,
  listAttempts,
  showAttempt,
  replayAttempt,
  drain,
  listVerdicts,
  clearVerdicts,
  verify,
  showReport,
  auditReceiver,
  enableEndpoint,
  explain,
  showClock,
  setClock,
  advanceClock,
  listFaults,
  addFault,
  showFaultSchema,
  showFault,
  changeFault,
  removeFault,
  clearFaults,
  listScenarios,
  showScenarioSchema,
  showScenario,
  startScenario,
  stopScenario,
  listWindows,
  setWindow,
  createRecord,
  changeRecord,
  startTraffic,
  listTraffic,
  stopTraffic,
  listMerchants,
  mintMerchant,
  removeMerchant,
  reset,
  listSnapshots,
  saveSnapshot,
  restoreSnapshot,
  removeSnapshot,
];
