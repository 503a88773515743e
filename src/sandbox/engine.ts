// The engine: creates the parts of the sandbox that handle calls and deliveries, and connects their listeners.

import { join, resolve } from "node:path";
import { catalogue, eventTypes, resources } from "../areas/index.ts";
import { webhookEndpoints } from "../areas/webhooks.ts";
import { API_PREFIX } from "../contracts/paths.ts";
import { createFaults } from "../faults/index.ts";
import { createHeldResponses } from "../faults/send-with-faults.ts";
import { createRateLimiter } from "../http/rate-limit.ts";
import { SAFE_HEADERS } from "../http/reply.ts";
import { requestMessage } from "../http/request-recorder.ts";
import { createJudge } from "../judge/judge.ts";
import { rules } from "../judge/rules/index.ts";
import type { Clock } from "../kernel/clock.ts";
import { notifyEach } from "../kernel/listeners.ts";
import { once } from "../kernel/once.ts";
import type { Random } from "../kernel/random.ts";
import { createLife } from "../life/life.ts";
import { createHub } from "../live/hub.ts";
import { createTrends } from "../live/trends.ts";
import { createScenarios } from "../scenarios/index.ts";
import { type Assumptions, assumedValue } from "../store/assumptions.ts";
import type { Operation } from "../store/operation-context.ts";
import type { RequestEntry } from "../store/request-log/request-log.ts";
import type { DatabaseImage } from "../store/sqlite/database.ts";
import type { Sql } from "../store/sqlite/lazy-statements.ts";
import { requireAddon } from "../store/sqlite/native-addon.ts";
import { openStoredClock } from "../store/sqlite/stored-clock.ts";
import { openStores, type Stores } from "../store/stores.ts";
import { adoptRows, wrongRow } from "../store/world/check-rows.ts";
import { type Fixture, readCheckedFixtures, readFixtures } from "../store/world/fixtures.ts";
import { getSeedImage, readSeedImage, type SeedImage } from "../store/world/seed-image.ts";
import { collectorOf } from "../telemetry/collector.ts";
import { createExporter } from "../telemetry/exporter.ts";
import { compareEffects } from "../verify/check-effects.ts";
import { checkVerdicts } from "../verify/check-verdicts.ts";
import { createDispatcher, webhookTimeoutFact } from "../webhooks/dispatcher.ts";
import { eventWriterUnder } from "../webhooks/event-body.ts";
import { createTargetPolicy } from "../webhooks/http/target-policy.ts";
import { retryScheduleFact, scheduleInSeconds, scheduleOf } from "../webhooks/retry-schedule.ts";
import { shownSignature, signerUnder } from "../webhooks/signature.ts";
import type { Address } from "./address.ts";
import { operationsUnder, readAssumptions } from "./assumptions.ts";
import { type Options, opensNetwork } from "./options.ts";
import { packageFile, requireFiles, version } from "./package-files.ts";

/** An internal error of the sandbox. */
export interface Defect {
  error: unknown;
  /** The id of the request that caused it, or the part of the sandbox that failed. */
  where: string;
}

/** The options and the contents of the files that they name, which are read before the sandbox's data is opened. */
interface DataOptions {
  options: Options;
  /**
   * Names the endpoints of a folder's merchant-sandbox.json that the user must confirm; undefined if there are none.
   */
  toConfirm: string | undefined;
  /** The URL of an app; deliveries to it wait until it listens. Undefined without such an app. */
  awaited: string | undefined;
  address: Address;
  clock: Clock;
  random: Random;
  /** The values that the options set, and the operations that follow from them. */
  assumed: Assumptions;
  operations: readonly Operation[];
  fixtures(): readonly Fixture[];
}

export interface StorageOptions extends DataOptions {
  /** The database file, or for a sandbox in memory an image of the seeded fixtures. */
  source: { file?: string; image?: DatabaseImage };
}

type Storage = DataOptions &
  ReturnType<typeof openData> & {
    /** Seeds the fixtures with today's dates, and returns the database image. */
    image(): SeedImage;
    /** Opens empty stores in memory. */
    openScratch(): Stores;
  };

export type Engine = ReturnType<typeof createEngine>;

/** Called after each response and each internal error. The sandbox's own parts and the user add listeners. */
interface Listeners {
  request: Set<(entry: RequestEntry) => void>;
  defect: Set<(defect: Defect) => void>;
}

/** The kinds of records that a database may hold. */
const storedKinds = [...resources, webhookEndpoints];
export const operations = catalogue.map(({ id }) => id);
const judgeRules = rules.map(({ id }) => id);

/**
 * Opens the database and creates the engine over it. `snapshot` describes the sandbox to each client that joins the
 * live stream.
 */
export function openEngine({ source, ...given }: StorageOptions, snapshot: () => unknown): Engine {
  const data = openData(given, source);
  try {
    const openScratch = () => openData(given).stores;
    return createEngine({ ...given, ...data, image: () => imageOf(given), openScratch }, snapshot);
  } catch (error) {
    data.stores.discard();
    throw error;
  }
}

function createEngine(storage: Storage, snapshot: () => unknown) {
  const { options, assumed, clock, random, schedule, stores } = storage;
  const listeners: Listeners = { request: new Set(), defect: new Set() };
  const hub = createHub({
    snapshot,
    report: (error) => reportDefect(listeners, error, "live stream"),
    stored() {
      stores.requestLog.flush();
      return stores.runSummary.storedCounts();
    },
    verdicts: () => judge.made(),
    responseHeaders: SAFE_HEADERS,
  });
  const limiter = createRateLimiter(options.rateLimit, assumed);
  const faults = createFaults({
    clock,
    seed: options.seed,
    known: namesIn(stores),
    keepHistory: stores.recordHistory.keep,
    loggedRuleIds: () => [...stores.requestLog.ruleIds(), ...stores.attempts.ruleIds()],
  });
  const judge = createJudge({
    operations: storage.operations,
    prefix: API_PREFIX,
    now: clock.now,
    checkVerdicts,
    isDelivering: (merchant) => dispatcher.isDelivering(merchant),
    onVerdict: (verdict) => hub.publish({ kind: "verdict", verdict }),
  });
  const scenarios = createScenarios({
    now: clock.now,
    rules: faults.rules,
    judgeRules,
    verdicts: () => judge.verdicts(),
    checkVerdicts,
    compareEffects,
    runSummary: stores.runSummary,
    folder: packageFile("fixtures/scenarios"),
  });
  const dispatcher = createDispatcher({
    ...stores,
    ...senderOptions(storage),
    clock,
    random,
    schedule,
    faults: faults.delivery,
    schemaOf: (kind) => resources.find((resource) => resource.kind === kind)?.schema,
    cancelled: (endpoint) => hub.publish({ kind: "cancellation", ...endpoint }),
    report: (error) => reportDefect(listeners, error, "webhooks"),
  });
  const reportLife = (error: unknown) => reportDefect(listeners, error, "life");
  const life = createLife({ ...stores, clock, resources, isOn: options.life === "on", report: reportLife });
  const inMemory = { heldResponses: createHeldResponses(), trends: createTrends() };
  const engine = {
    ...storage,
    ...inMemory,
    faults,
    limiter,
    dispatcher,
    life,
    judge,
    scenarios,
    hub,
    listeners,
    spans: openSpans(storage, listeners),
  };
  connect(engine);
  return engine;
}

/**
 * Calls every listener for defects. An error in a listener is ignored, because it could only be reported to the same
 * listeners.
 */
export const reportDefect = ({ defect }: Pick<Listeners, "defect">, error: unknown, where: string) =>
  notifyEach(defect, { error, where }, () => {});

/**
 * Connects the listeners. The live stream gets each event before the judge, so a verdict follows its cause in the
 * stream.
 */
function connect({ clock, faults, dispatcher, judge, hub, trends, listeners, spans }: Engine): void {
  clock.onFailure((error) => reportDefect(listeners, error, "clock"));
  listeners.request.add((entry) => hub.publish({ kind: "request", request: requestMessage(entry) }));
  listeners.request.add(judge.request);
  listeners.request.add(trends.add);
  faults.listen(judge.fired);
  faults.listen((fault) => hub.publish({ kind: "fault", fault }));
  dispatcher.listen(({ message }) => hub.publish({ kind: "attempt", attempt: message }));
  dispatcher.listen(judge.attempt);
  if (!spans) return;
  listeners.request.add(spans.request);
  dispatcher.listen(spans.attempt);
  faults.listen(spans.fired);
}

/** Exports spans if the environment names a collector. Without a collector, calls do no extra work. */
function openSpans({ address, random, operations: known }: Storage, listeners: Listeners) {
  const collector = collectorOf(process.env);
  if (!collector) return undefined;
  const routes = new Map(known.map(({ id, path }) => [id, API_PREFIX + path]));
  return createExporter({
    collector,
    version: version(),
    random,
    routeOf: (operation) => routes.get(operation),
    isOwn: address.isOwn,
    report: (error) => reportDefect(listeners, error, "OpenTelemetry"),
  });
}

/** How the dispatcher and the audit of a receiver send webhooks. */
export const senderOptions = ({ options, assumed, targets }: Storage) => ({
  sign: signerUnder(assumed),
  signature: shownSignature(assumed),
  targets,
  timeout: assumedValue(assumed, webhookTimeoutFact) * 1_000,
  insecureTls: options.webhookInsecureTls,
  traceDeliveries: options.traceDeliveries,
  userAgent: `merchant-sandbox/${version()}`,
});

/** The names that a fault rule may use. */
const namesIn = ({ tenants }: Stores) => ({
  operations,
  eventTypes,
  judgeRules,
  merchants: () => tenants.list().map(({ id }) => id),
  ownerOf: (key: string) => tenants.identify(key)?.merchant,
});

/** Reads the files that the options name. */
export async function prepareStorage(
  given: Pick<DataOptions, "options" | "toConfirm" | "awaited" | "address" | "clock" | "random">,
): Promise<StorageOptions> {
  const { options } = given;
  const assumed = await readAssumptions(options, async () => (await import("./documents.ts")).ownFacts());
  const operations = operationsUnder(assumed);
  const complete = { ...given, assumed, operations, fixtures: await fixturesOf(options) };
  requireAddon();
  requireFiles();
  return { ...complete, source: options.memory ? { image: imageOf(complete) } : { file: resolve(options.db) } };
}

/**
 * Opens the stores over a database (default: an empty one in memory), with the policy for webhook URLs, the retry
 * schedule and the stored clock.
 */
function openData({ options, assumed, address, clock, random }: DataOptions, source: StorageOptions["source"] = {}) {
  const targets = createTargetPolicy({
    isOwn: address.isOwn,
    allowedHosts: options.allowWebhookHost,
    allowLoopback: !opensNetwork(options) || options.allowLoopbackWebhooks,
  });
  // Only the realistic schedule has jitter.
  const schedule =
    options.retrySchedule === "realistic"
      ? scheduleOf("realistic")
      : scheduleInSeconds(assumedValue(assumed, retryScheduleFact));
  const kinds = { resources: storedKinds, bodies: options.bodies };
  const rows = { check: (sql: Sql) => wrongRow(sql, kinds), adopt: (sql: Sql) => adoptRows(sql, storedKinds) };
  const writeEvent = eventWriterUnder(assumed);
  const webhooks = { gaps: schedule.gaps, writeEvent, checkTarget: targets.check, eventTypes };
  const { bodies, trust, isolation } = options;
  const isIsolated = isolation !== "off";
  const stores = openStores({ clock, random, webhooks, bodies, trust, rows, ...source, isIsolated });
  const storedClock = openStoredClock(stores.database, clock, options.clock !== undefined);
  return { targets, schedule, stores, storedClock };
}

function imageOf(given: DataOptions): SeedImage {
  const { options, fixtures, clock } = given;
  // The package's fixtures name every id and key, so their rows are the same for every seed.
  const built = options.fixtures === undefined ? builtImage()?.(clock.now()) : undefined;
  return (
    built ??
    getSeedImage({ fixtures: fixtures(), resources, seed: options.seed, clock, open: () => openData(given).stores })
  );
}

/**
 * A user's own fixtures are validated at each start. The package's fixtures are read on first use, because starting
 * needs only their image.
 */
async function fixturesOf({ fixtures }: Options): Promise<() => readonly Fixture[]> {
  if (fixtures === undefined) return packageFixtures;
  const read = await readCheckedFixtures(fixtures, resources);
  return () => read;
}

const packageFixtures = once(() => readFixtures(packageFile("fixtures/merchants")));

/** The image that the build makes of the default data, so that starting does not seed it again. */
const builtImage = once(() => {
  const inDist = (name: string) => join(import.meta.dirname, name);
  return readSeedImage({ image: inDist("world.db"), about: inDist("world.json") }, resources);
});
