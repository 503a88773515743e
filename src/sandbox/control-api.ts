// Builds the context of the control API on first use, from the parts of the engine and the parts that only the control
// API uses.

import { resolve } from "node:path";
import { eventTypes, resources } from "../areas/index.ts";
import { callService } from "../client/http-transport.ts";
import type { RecordBase, Resource } from "../contracts/resource.ts";
import type { ControlContext } from "../control/index.ts";
import type { About } from "../control/overview.ts";
import { type ErrorCode, SandboxError } from "../kernel/errors.ts";
import { subscribeTo } from "../kernel/listeners.ts";
import { createLessons, type LessonService } from "../lessons/index.ts";
import type { LessonCall } from "../lessons/lesson-files.ts";
import { collectReceiverChecks, type ReceiverChecks } from "../report/receiver-checks.ts";
import type { RunSources } from "../report/run-data.ts";
import { type Assumptions, shownError } from "../store/assumptions.ts";
import { createViews } from "../store/records/views.ts";
import { readCoverage } from "../store/request-log/coverage.ts";
import type { Stores } from "../store/stores.ts";
import { openFixtureCopies } from "../store/world/fixture-copies.ts";
import { openSnapshots } from "../store/world/snapshots.ts";
import { openWorld } from "../store/world/world.ts";
import { createVerifier, type Verifier } from "../verify/verifier.ts";
import { shownSignature } from "../webhooks/signature.ts";
import { openAuditor } from "./auditor.ts";
import { type Engine, operations, reportDefect } from "./engine.ts";
import { packageFile, version } from "./package-files.ts";
import { restoredFrom } from "./restore-snapshot.ts";
import { createStartState } from "./start-state.ts";

/** The parts of the control API. The sandbox also uses some of them to start and stop. */
export type ControlApiParts = ReturnType<typeof openControlApi>;

export function openControlApi(engine: Engine) {
  const { address, fixtures, image, clock, random, life } = engine;
  const { stores, faults, limiter, hub, dispatcher, judge, scenarios, trends } = engine;
  const { trust, bodies } = engine.options;
  const statusOf = (code: ErrorCode) => shownError(engine.assumed, code).status;
  const coverage = (erased: boolean) =>
    readCoverage({ operations: engine.operations, eventTypes, statusOf, ...stores }, erased);
  if (!stores.database.isCopy) createViews(stores.database, resources);
  const checks = collectReceiverChecks();
  const dataReplaced = (merchant?: string, event?: string) => {
    forget(engine, merchant, event);
    checks.erase(merchant);
    lessons.reset(merchant);
    dispatcher.reload(merchant);
    hub.publish({ kind: "reset", merchant: merchant ?? null });
  };
  const removed = (merchant: string) => {
    judge.close(merchant);
    forgetData(engine, merchant);
    checks.erase(merchant);
    lessons.reset(merchant);
    dispatcher.reload(merchant);
    hub.publish({ kind: "removal", merchant });
  };
  const world = openWorld({
    stores,
    copies: openFixtureCopies({ stores, resources, clock, random, open: engine.openScratch }),
    fixtures,
    image,
    random,
    dataReplaced,
    removed,
  });
  const verifier = openVerifier(engine, checks);
  const lessons = openLessons(engine, verifier, () => world.add().id);
  const auditor = openAuditor(engine, checks);
  const shared = { ...stores, about: aboutOf(engine), clock, coverage };
  const operationIds = engine.operations.map(({ id }) => id);
  const parts = {
    ...shared,
    operationIds,
    random,
    life,
    world,
    snapshots: openSnapshots({ ...stores, trust, build: (snapshot) => restoredFrom(snapshot, bodies), dataReplaced }),
    dispatcher,
    limiter,
    faults: faults.rules,
    judge,
    scenarios,
    trends,
    lessons,
    verifier,
    auditor,
    checks,
    report: openReporter(engine, { ...shared, checks }),
    publish: hub.publish,
    keepClock: engine.storedClock.keep,
    made: hub.made,
    resources,
    documents: openDocuments(address.url, engine.assumed),
  } satisfies Omit<ControlContext, "restore" | "releaseHeld">;
  const start = createStartState(engine, parts);
  return { ...parts, start, restore: start.restore, releaseHeld: start.releaseHeld };
}

/**
 * Clears the state in memory about data that was replaced, of one merchant or of all. `event` says what replaced the
 * data (default: a reset).
 */
function forget(engine: Engine, merchant: string | undefined, event: string | undefined): void {
  engine.judge.conclude(merchant);
  forgetData(engine, merchant);
  engine.judge.forget(merchant, event);
}

function forgetData(
  { stores, limiter, scenarios, faults, heldResponses, trends }: Engine,
  merchant: string | undefined,
): void {
  stores.tenants.clearCache();
  stores.dueRecords.changed();
  stores.idempotencyReplies.clearCache();
  limiter.clear(merchant);
  scenarios.forget(merchant);
  faults.rules.forget(merchant);
  if (merchant === undefined) {
    heldResponses.releaseAll();
    trends.clear();
    stores.run.erased();
  }
}

function openVerifier(
  { stores, clock, faults, judge, scenarios, dispatcher, listeners }: Engine,
  checks: ReceiverChecks,
) {
  const onRequest = subscribeTo(listeners.request);
  return createVerifier({
    ...stores,
    resources,
    records: (merchant, resource) => recordsOf(stores, clock.seconds(), merchant, resource),
    operations,
    judge: {
      rules: judge.rules.map(({ id }) => id),
      verdicts: () => judge.verdicts(),
      isWatching: judge.isWatching,
    },
    scenarios: scenarios.armed,
    onEffects(expectation, merchant, result) {
      checks.counted(expectation, merchant, result);
      judge.counted(new Set(result.counted), result.verdict === "pass" ? result.message : undefined);
    },
    hasAudited: () => checks.list(false).checks.some(({ kind }) => kind === "audit"),
    faults: () => new Map(faults.rules.list().map(({ id, fired }) => [id, fired])),
    listen(listener) {
      const unsubscribe = [onRequest(listener), dispatcher.listen(listener)];
      return () => unsubscribe.forEach((end) => void end());
    },
  });
}

/** The records of a kind, of one merchant or of all, newest first. */
function recordsOf(
  { tenants, createOperationContext }: Stores,
  now: number,
  merchant: string | undefined,
  resource: Resource,
): RecordBase[] {
  const merchants = merchant === undefined ? tenants.list().map(({ id }) => id) : [merchant];
  return merchants.flatMap((id) => createOperationContext(id, now, undefined).own(resource).all().reverse());
}

/** Loads the code of reports at the first report. */
function openReporter(
  { judge, scenarios }: Engine,
  shared: Omit<RunSources, "verdicts" | "madeVerdicts" | "sandboxes" | "scenarios">,
): ControlContext["report"] {
  const sources = {
    ...shared,
    verdicts: (erased: boolean) => judge.verdicts({ erased }),
    madeVerdicts: judge.made,
    sandboxes: judge.sandboxes,
    scenarios: (ended: boolean) => (ended ? scenarios.ofRun() : scenarios.armed()),
  };
  return async (format, end) => (await import("../report/report.ts")).report(sources, format, end);
}

function openLessons(engine: Engine, verifier: Verifier, createMerchant: () => string) {
  const { options, address, clock, stores, hub, listeners } = engine;
  const lessons: LessonService = createLessons({
    ...stores,
    clock,
    verifier,
    url: address.url,
    folder: options.lessons === undefined ? packageFile("fixtures/lessons") : resolve(options.lessons),
    createMerchant,
    call: (call, apiKey) => callForLearner(engine, call, apiKey),
    publish: (lesson) => hub.publish({ kind: "lesson", lesson }),
    report: (error) => reportDefect(listeners, error, "lessons"),
  });
  hub.listen(lessons.onEvent);
  return lessons;
}

/**
 * Makes a call that a lesson defines, such as the setup of a step. It goes over HTTP, so that the request log, the
 * judge and the live stream treat it like the learner's own.
 */
async function callForLearner(
  { options, address }: Engine,
  { method, path, headers, body }: LessonCall,
  apiKey: string,
): Promise<void> {
  if (address.url() === "")
    throw new SandboxError(
      "The app that this sandbox is mounted in has passed it no request: call it over HTTP first.",
    );
  const url = new URL(address.url());
  if (options.host === "0.0.0.0" || options.host === "::") url.hostname = "127.0.0.1";
  const key = path.startsWith("/v1/") ? apiKey : (options.controlToken ?? null);
  const reply = await callService(url.href, { method, path, key, headers, body });
  // With a 409, the result of the step exists already. A sandbox that other machines can call rejects endpoints on its
  // own machine; the lesson then continues without one.
  const { code } = reply.body as { code?: ErrorCode };
  if (reply.status < 300 || reply.status === 409 || code === "webhook_url_loopback") return;
  const response = `${reply.status} ${JSON.stringify(reply.body)}`;
  throw new SandboxError(
    `A call that the lesson makes for the learner failed: ${method} ${path} responded with ${response}`,
  );
}

function aboutOf({ address, stores, assumed }: Engine): About {
  const signature = shownSignature(assumed);
  return { version: version(), url: address.url, file: stores.database.file, signature, assumptions: assumed };
}

/** The OpenAPI documents and the list of assumptions, which are loaded and built when first requested. */
function openDocuments(url: () => string, assumed: Assumptions): ControlContext["documents"] {
  const load = () => import("./documents.ts");
  return {
    openapi: async (form) => (await load()).serviceOpenapi(url(), form, assumed),
    controlOpenapi: async (form) => (await load()).controlOpenapi(url(), form),
    assumptions: async () => (await load()).assumptions(assumed),
  };
}
