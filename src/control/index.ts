// The list of control operations, in the order of the reference.

import { auditReceiver } from "./audit.ts";
import { advanceClock, setClock, showClock } from "./clock.ts";
import type { ControlOperation } from "./control-context.ts";
import { enableEndpoint, registerEndpoint, removeEndpoint } from "./endpoints.ts";
import { addFault, changeFault, clearFaults, listFaults, removeFault, showFault, showFaultSchema } from "./faults.ts";
import {
  beginLesson,
  getLearner,
  getLesson,
  giveHint,
  joinLessons,
  listLearners,
  listLessons,
  removeLearner,
  skipStep,
} from "./lessons.ts";
import { listMerchants, mintMerchant, removeMerchant, reset } from "./merchants.ts";
import { listAssumptions, listOperations, showControlOpenapi, showHealth, showOpenapi, showOverview, showTrend } from "./overview.ts";
import { listWindows, setWindow } from "./rate-limits.ts";
import { changeRecord, createRecord, listRecords, showRecord } from "./records.ts";
import { showReport } from "./reports.ts";
import { listRequests, showRequest } from "./requests.ts";
import { closeRoom, joinRoom, openRoom, showBoard, showJoinPage, showRoomBoard } from "./room.ts";
import { listScenarios, showScenario, showScenarioSchema, startScenario, stopScenario } from "./scenarios.ts";
import { listSnapshots, removeSnapshot, restoreSnapshot, saveSnapshot } from "./snapshots.ts";
import { listTraffic, startTraffic, stopTraffic } from "./traffic.ts";
import { triggerEvent } from "./trigger.ts";
import { clearVerdicts, listVerdicts } from "./verdicts.ts";
import { verify } from "./verify.ts";
import { drain, explain, listAttempts, listEvents, replayAttempt, replayEvent, showAttempt } from "./webhooks.ts";

const operations: readonly ControlOperation[] = [
  showOverview,
  showHealth,
  listOperations,
  showTrend,
  showOpenapi,
  showControlOpenapi,
  listAssumptions,
  listRequests,
  showRequest,
  listEvents,
  triggerEvent,
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
  registerEndpoint,
  removeEndpoint,
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
  listRecords,
  showRecord,
  createRecord,
  changeRecord,
  startTraffic,
  listTraffic,
  stopTraffic,
  listLessons,
  getLesson,
  listLearners,
  showBoard,
  joinLessons,
  getLearner,
  beginLesson,
  skipStep,
  giveHint,
  removeLearner,
  openRoom,
  closeRoom,
  showRoomBoard,
  showJoinPage,
  joinRoom,
  listMerchants,
  mintMerchant,
  removeMerchant,
  reset,
  listSnapshots,
  saveSnapshot,
  restoreSnapshot,
  removeSnapshot,
];

/** One sentence about each area. */
export const controlAreaDescriptions: Readonly<Record<string, string>> = {
  Overview: "The sandbox itself: its address, health, operations, OpenAPI documents and assumptions.",
  Requests: "Every request that clients sent, with its response and the events that it emitted.",
  Webhooks: "Events and their delivery attempts: trigger, replay, wait, and diagnose signatures.",
  Judge: "Verdicts on how clients retry and how receivers handle webhooks.",
  Verification: "Expectations on a run, its report, and the audit of a webhook receiver.",
  Clock: "The sandbox's time: freeze it, set it or advance it.",
  Faults: "Rules that make calls and deliveries fail on purpose.",
  Scenarios: "Ready-made sets of faults with the verdicts that a correct client gets.",
  "Rate limits": "The rate-limit window of each merchant.",
  Records: "The data of the merchants: read, create, change and move records of every kind.",
  Traffic: "Generated records in the background, so that something happens without a client.",
  Lessons: "Guided exercises, the progress of learners, and rooms for workshops.",
  Merchants: "Merchants for tests, and the reset of their data.",
  Snapshots: "Saved states of all data, to return to.",
};

/** Checks the learners' steps after an operation that may have changed something. */
const checkingLearners = (operation: ControlOperation): ControlOperation => ({
  ...operation,
  async handle(call) {
    const reply = await operation.handle(call);
    call.lessons.check();
    return reply;
  },
});

export const controlCatalogue: readonly ControlOperation[] = operations.map((operation) =>
  operation.method === "GET" ? operation : checkingLearners(operation),
);
