// The composition root: the whole machine on one screen.

import { resolve } from "node:path";
import { catalogue, eventTypes, resources } from "./areas/index.ts";
import type { Console } from "./control/console.ts";
import { controlCatalogue } from "./control/index.ts";
import { showSandbox } from "./control/overview.ts";
import { armFile } from "./faults/file.ts";
import { createFaults, type Faults } from "./faults/index.ts";
import type { Context } from "./http/context.ts";
import { CONTROL_PREFIX, controlLock } from "./http/control-token.ts";
import { createHeld, type Held } from "./http/fault-forms.ts";
import { createGuard } from "./http/guard.ts";
import { createLimiter, type Limiter, type Rules } from "./http/limit.ts";
import { pipe } from "./http/pipe.ts";
import { createRecorder, requestMessage } from "./http/record.ts";
import { isService, PREFIX } from "./http/route.ts";
import { type Listeners, listen } from "./http/server.ts";
import { upgrades } from "./http/upgrade.ts";
import { createJudge, type Judge } from "./judge/judge.ts";
import { type Clock, createClock } from "./kernel/clock.ts";
import { hearer, tell } from "./kernel/listeners.ts";
import { createDice, type Dice } from "./kernel/random.ts";
import { documents } from "./late-documents.ts";
import { createHub, type Hub } from "./live/hub.ts";
import { checkRates, controlToken, ownName } from "./option-checks.ts";
import { completeOptions, type GivenOptions, type Options } from "./options.ts";
import { packageFile, version } from "./package.ts";
import { openProof } from "./proof.ts";
import { type Fixture, readFixtures } from "./store/fixtures.ts";
import type { JournalEntry } from "./store/journal.ts";
import { openSeeder } from "./store/seed.ts";
import { openSnapshots } from "./store/snapshots.ts";
import { openStores, type Stores } from "./store/stores.ts";
import type { Tenant } from "./store/tenants.ts";
import { createViews } from "./store/views.ts";
import { openWorld } from "./store/world.ts";
import { createDispatcher, type Dispatcher } from "./webhooks/dispatcher.ts";
import { type Schedule, scheduleOf } from "./webhooks/schedule.ts";
import { createTargets, type Targets } from "./webhooks/target.ts";

export interface Defect {
  error: unknown;
  /** The request that brought it out, or the part of the sandbox that did. */
  where: string;
}

export interface Sandbox {
  /** Where it listens, such as http://127.0.0.1:4747. */
  readonly url: string;
  /** What a client is pointed at: the url with /v1. */
  readonly baseUrl: string;
  readonly port: number;
  /** The SQLite file; undefined in memory. */
  readonly file: string | undefined;
  /** What the control plane asks for; undefined on loopback, where it asks for nothing. */
  readonly controlToken: string | undefined;
  merchants(): Tenant[];
  /** Rules that let calls and deliveries go wrong. */
  readonly faults: Faults["program"];
  /** Hears of each request once it is answered. */
  onRequest(listener: (entry: JournalEntry) => void): void;
  /** Hears of defects of the sandbox itself; without a listener they become process warnings. */
  onDefect(listener: (defect: Defect) => void): void;
  /** Lets what is in flight finish, then frees port and file. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const operations = catalogue.map(({ id }) => id);

/** In memory and on any free port: what a test wants. The command line says otherwise. */
const LIBRARY_DEFAULTS: Partial<Options> = { memory: true, port: 0 };
const CLOSE_WITHIN = 5_000;

export async function createSandbox(given: GivenOptions = {}): Promise<Sandbox> {
  const options = completeOptions(given, LIBRARY_DEFAULTS);
  const token = controlToken(options);
  checkRates(options, operations);
  const fixtures = await fixturesOf(options);
  const clock = createClock(options.clock);
  const dice = createDice(options.seed);
  const ownPorts: number[] = [];
  const targets = createTargets({ ownPorts: () => ownPorts, allowedHosts: options.allowWebhookHost });
  const schedule = scheduleOf(options.retrySchedule);
  const webhooks = { gaps: schedule.gaps, checkTarget: targets.check, eventTypes };
  const stores = openStores(options.memory ? undefined : resolve(options.db), clock, dice, webhooks);
  try {
    const faults = openFaults(options, clock, stores);
    const sandbox = await serve({ options, token, fixtures, clock, dice, stores, faults, held: createHeld(), targets, schedule });
    ownPorts.push(sandbox.port);
    return sandbox;
  } catch (error) {
    clock.stop();
    stores.close();
    throw error;
  }
}

/** Built-in fixtures are trusted, because a test has checked them; a user's own are checked at each start. */
const fixturesOf = ({ fixtures }: Options) =>
  fixtures === undefined ? readFixtures(packageFile("fixtures/merchants")) : readFixtures(fixtures, { validate: resources });

interface Parts {
  options: Options;
  token: string | undefined;
  fixtures: readonly Fixture[];
  clock: Clock;
  dice: Dice;
  stores: Stores;
  faults: Faults;
  /** What faults keep waiting at the sockets. */
  held: Held;
  targets: Targets;
  schedule: Schedule;
}

async function serve(parts: Parts): Promise<Sandbox> {
  const { options, token, clock, stores, faults, held } = parts;
  const { database, tenants, replies } = stores;
  const machine = assemble(parts, () => showSandbox(console));
  const { hub, heard, dispatcher } = machine;
  const console = openConsole(machine, () => url);
  await begin(options, console);

  clock.watch(replies);
  const listening = await listen(
    options.port,
    options.host,
    openFront(machine, console, () => listening.port),
  );
  const url = `http://${ownName(options)}:${listening.port}`;
  database.own(`process ${process.pid} at ${url}`);
  dispatcher.start();

  const close = once(async () => {
    hub.close();
    console.verifier.stop();
    held.letGo();
    await listening.close(CLOSE_WITHIN);
    await dispatcher.stop(CLOSE_WITHIN);
    clock.stop();
    console.snapshots.close();
    stores.close();
  });
  return {
    url,
    baseUrl: url + PREFIX,
    port: listening.port,
    file: database.file,
    controlToken: token,
    merchants: () => tenants.list(),
    faults: faults.program,
    onRequest: (listener) => void heard.requests.add(listener),
    onDefect: (listener) => void heard.defects.add(listener),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Fills the world as the fixtures or a snapshot have it, and arms the faults of a file. */
async function begin({ snapshot, faults }: Options, { world, snapshots, ...console }: Console): Promise<void> {
  world.fill();
  if (snapshot !== undefined) snapshots.restoreFile(resolve(snapshot));
  if (faults !== undefined) await armFile(resolve(faults), console.faults.add);
}

/** The parts put together: what works from here on, and who is told what. */
interface Machine extends Parts {
  limiter: Limiter;
  hub: Hub;
  judge: Judge;
  heard: Heard;
  dispatcher: Dispatcher;
}

function assemble(parts: Parts, snapshot: () => unknown): Machine {
  const limiter = createLimiter(parts.options.rateLimit as Rules);
  const hub = createHub(snapshot);
  const judge = openJudge(hub, parts.faults);
  const heard: Heard = { requests: new Set([judge.request]), defects: new Set() };
  return { ...parts, limiter, hub, judge, heard, dispatcher: openDispatcher(parts, hub, heard, judge) };
}

interface Heard {
  requests: Set<(entry: JournalEntry) => void>;
  defects: Set<(defect: Defect) => void>;
}

/** What stands at the sockets: the pipe for the service, Express for everything else, the hub for those who watch. */
function openFront(machine: Machine, world: Console, port: () => number): Listeners {
  const { options, token, clock, stores, faults, held, limiter, hub, heard, dispatcher } = machine;
  const { bodies, allowedHost, allowedOrigin } = options;
  const report = (error: unknown, { id }: Context) => tell(heard.defects, { error, where: id });
  const guard = createGuard(port, [...allowedHost, ownName(options)], allowedOrigin);
  const checkToken = controlLock(token);
  const recorder = createRecorder(stores.journal, clock, (entry) => {
    hub.say({ kind: "request", request: requestMessage(entry) });
    tell(heard.requests, entry);
  });
  const needs = { ...stores, faults: faults.api, held, guard, catalogue, clock, limiter, bodies, report };
  const answer = pipe({ ...needs, committed: dispatcher.committed, answered: recorder.close });
  // Express is loaded when somebody first asks for what it carries: a start that only serves /v1 does without.
  const app = once(async () =>
    (await import("./http/app.ts")).createApp({ guard, clock, control: controlCatalogue, world, checkToken, report }),
  );
  return {
    request(incoming, outgoing) {
      if (isService(incoming.url)) void answer(recorder.open(incoming, outgoing));
      else void app().then((handle) => handle(incoming, outgoing));
    },
    connected: recorder.connected,
    upgrade: upgrades(`${CONTROL_PREFIX}/live`, guard, checkToken, hub.accept),
  };
}

function openJudge(hub: Hub, faults: Faults): Judge {
  const judge = createJudge({ operations: catalogue, prefix: PREFIX, told: (verdict) => hub.say({ kind: "verdict", verdict }) });
  faults.listen(judge.fired);
  faults.listen((fault) => hub.say({ kind: "fault", fault }));
  return judge;
}

function openDispatcher(parts: Parts, hub: Hub, heard: Heard, judge: Judge): Dispatcher {
  const { clock, dice, stores, faults, schedule } = parts;
  const dispatcher = createDispatcher({
    ...stores,
    clock,
    dice,
    schedule,
    faults: faults.delivery,
    ...senderNeeds(parts),
    report: (error) => tell(heard.defects, { error, where: "webhooks" }),
  });
  dispatcher.listen((attempt) => hub.say({ kind: "attempt", attempt }));
  dispatcher.listen(judge.attempt);
  return dispatcher;
}

/** Where and how webhooks are sent. */
const senderNeeds = ({ options, targets }: Parts) => ({
  targets,
  timeout: options.webhookTimeout,
  insecureTls: options.webhookInsecureTls,
  userAgent: `merchant-sandbox/${version()}`,
});

/** The fault rules, which may name what there is. */
function openFaults({ seed }: Options, clock: Clock, { tenants, past }: Stores): Faults {
  const known = {
    operations,
    eventTypes,
    merchants: () => tenants.list().map(({ id }) => id),
    ownerOf: (key: string) => tenants.identify(key)?.merchant,
  };
  return createFaults({ clock, seed, known, keepPast: past.keep });
}

/** What the control plane works with. */
function openConsole(machine: Machine, url: () => string): Console {
  const { fixtures, clock, dice, stores, faults, held, limiter, hub, dispatcher, judge, heard } = machine;
  const { database, tenants, journal } = stores;
  const renew = (merchant?: string) => {
    tenants.forget();
    limiter.clear(merchant);
    faults.rules.clear(merchant);
    if (merchant === undefined) held.letGo();
    judge.forget(merchant);
    dispatcher.reload(merchant);
    hub.say({ kind: "reset", merchant: merchant ?? null });
  };
  createViews(database, resources);
  const about = { version: version(), url, file: database.file };
  const proved = { ...stores, about, clock, dice, dispatcher, webhooks: senderNeeds(machine) };
  return {
    ...stores,
    about,
    clock,
    world: openWorld(stores, openSeeder(stores, resources, clock), fixtures, dice, renew),
    snapshots: openSnapshots(database, journal),
    dispatcher,
    limiter,
    faults: faults.rules,
    judge,
    ...openProof({ ...proved, judge, faults: faults.rules, hear: hearer(heard.requests) }),
    renew,
    tell: hub.say,
    catalogue,
    resources,
    documents: documents(url),
  };
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
