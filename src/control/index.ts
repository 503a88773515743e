// The list of all control operations, in the order of the reference.

import type { Endpoint } from "../contracts/endpoint.ts";
import * as audits from "./audits.ts";
import * as clock from "./clock.ts";
import * as deliveries from "./deliveries.ts";
import * as endpoints from "./endpoints.ts";
import * as events from "./events.ts";
import * as faults from "./faults.ts";
import * as lessons from "./lessons.ts";
import * as merchants from "./merchants.ts";
import * as overview from "./overview.ts";
import * as rateLimits from "./rate-limits.ts";
import * as records from "./records.ts";
import * as requests from "./requests.ts";
import * as scenarios from "./scenarios.ts";
import * as snapshots from "./snapshots.ts";
import * as timelines from "./timelines.ts";
import * as traces from "./traces.ts";
import * as verdicts from "./verdicts.ts";
import * as verification from "./verification.ts";

const files = [
  overview,
  requests,
  traces,
  events,
  deliveries,
  verdicts,
  verification,
  audits,
  endpoints,
  clock,
  faults,
  scenarios,
  rateLimits,
  records,
  timelines,
  lessons,
  merchants,
  snapshots,
] as const;

/** The parts of the sandbox that the operations of a file use. */
type PartsOf<File> = File extends { operations: readonly Endpoint<infer Parts>[] } ? Parts : never;
type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** The context that every handler receives: all parts that any file declares for its operations. */
export type ControlContext = Intersection<PartsOf<(typeof files)[number]>>;

export type ControlOperation = Endpoint<ControlContext>;

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
  Lessons: "Guided exercises, and the progress of learners.",
  Merchants: "Merchants for tests, and the reset of their data.",
  Snapshots: "Saved states of all data, to return to.",
};

/** Wraps an operation that can change something: after it, the learners' steps are checked. */
const checkingLearners = (operation: ControlOperation): ControlOperation => ({
  ...operation,
  async handle(call) {
    const reply = await operation.handle(call);
    call.lessons.check();
    return reply;
  },
});

export const controlCatalogue: readonly ControlOperation[] = files
  .flatMap(({ operations }): readonly ControlOperation[] => operations)
  .map((operation) => (operation.method === "GET" ? operation : checkingLearners(operation)));
