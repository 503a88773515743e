// The composition root: makes the parts, puts them together, opens the sockets, and closes all of it again.

import { join, resolve } from "node:path";
import { eventTypes, resources } from "../areas/index.ts";
import { createControlClient } from "../client/control-client.ts";
import type { ControlPlane } from "../client/control-plane.generated.ts";
import type { LiveEvent } from "../contracts/live-messages.ts";
import type { ControlContext } from "../control/control-context.ts";
import { showSandbox } from "../control/overview.ts";
import { armFile } from "../faults/rules-file.ts";
import { createHeldResponses } from "../http/faults/held-responses.ts";
import { API_PREFIX } from "../http/route.ts";
import { type ListeningServer, listen } from "../http/server.ts";
import { createClock } from "../kernel/clock.ts";
import { once } from "../kernel/once.ts";
import { createRandom } from "../kernel/random.ts";
import type { LoggedRequest } from "../store/journal/request-log.ts";
import { openStores } from "../store/stores.ts";
import { readFixtures } from "../store/world/fixtures.ts";
import { getSeedImage, readSeedImage } from "../store/world/seed-image.ts";
import { createTargets } from "../webhooks/http/target-policy.ts";
import { scheduleOf } from "../webhooks/retry-schedule.ts";
import { openControlContext } from "./control-plane.ts";
import { assemble, type Defect, type Machine, openFaults, operations, type Parts } from "./engine.ts";
import { inProcessTransport } from "./in-process-transport.ts";
import { checkLessons, checkRates, controlToken, ownName } from "./option-checks.ts";
import { completeOptions, type GivenOptions, type Options, optionFacts } from "./options.ts";
import { packageFile } from "./package-files.ts";
import { openFront } from "./sockets.ts";

/** Where it is and what it keeps, and beside that a method for everything that steers it. */
export interface Sandbox extends ControlPlane {
  /** Where it listens, such as http://127.0.0.1:4747. */
  readonly url: string;
  /** What a client is pointed at: the url with /v1. */
  readonly baseUrl: string;
  readonly port: number;
  /** The SQLite file; undefined in memory. */
  readonly file: string | undefined;
  /** What the control plane asks for; undefined on loopback, where it asks for nothing. */
  readonly controlToken: string | undefined;
  /** Hears of each request once it is answered. */
  onRequest(listener: (entry: LoggedRequest) => void): void;
  /** Hears of everything that happens: requests, delivery attempts, verdicts, faults that fire, the clock, resets. */
  onHappening(listener: (happening: LiveEvent) => void): void;
  /** Hears of defects of the sandbox itself; without a listener they become process warnings. */
  onDefect(listener: (defect: Defect) => void): void;
  /** Lets what is in flight finish, then frees port and file. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** In memory and on any free port: what a test wants. The command line says otherwise. */
const LIBRARY_DEFAULTS: Partial<Options> = { memory: true, port: 0 };
const CLOSE_WITHIN = 5_000;

export async function createSandbox(given: GivenOptions = {}): Promise<Sandbox> {
  const options = completeOptions(given, LIBRARY_DEFAULTS);
  const token = controlToken(options);
  checkRates(options, operations);
  checkLessons(options);
  const fixtures = await fixturesOf(options);
  const clock = createClock(options.clock);
  const random = createRandom(options.seed);
  const ownPorts: number[] = [];
  const targets = createTargets({ ownPorts: () => ownPorts, allowedHosts: options.allowWebhookHost });
  const schedule = scheduleOf(options.retrySchedule);
  const webhooks = { gaps: schedule.gaps, checkTarget: targets.check, eventTypes };
  const needs = { clock, random, webhooks };
  const seeded = () => getSeedImage({ fixtures, resources, seed: options.seed, clock, open: () => openStores(needs) });
  const image = () => (isUsual(options) ? usualImage() : undefined) ?? seeded();
  const stores = openStores({ ...needs, ...(options.memory ? { image: image().bytes } : { file: resolve(options.db) }) });
  try {
    const faults = openFaults(options, clock, stores);
    const sandbox = await serve({
      options,
      token,
      fixtures,
      image,
      clock,
      random,
      stores,
      faults,
      held: createHeldResponses(),
      targets,
      schedule,
    });
    ownPorts.push(sandbox.port);
    return sandbox;
  } catch (error) {
    clock.stop();
    stores.close();
    throw error;
  }
}

const builtIn = once(() => readFixtures(packageFile("fixtures/merchants")));

/** Built-in fixtures are trusted, because a test has checked them; a user's own are read and checked at each start. */
const fixturesOf = ({ fixtures }: Options) => (fixtures === undefined ? builtIn() : readFixtures(fixtures, { validate: resources }));

const isUsual = ({ fixtures, seed }: Options) => fixtures === undefined && seed === optionFacts.seed.fallback;

/** The image of the usual world, which lies beside the program as it is built: nobody waits until it is seeded once more. */
const usualImage = once(() => readSeedImage(join(import.meta.dirname, "world.db")));

async function serve(parts: Parts): Promise<Sandbox> {
  const machine = assemble(parts, () => showSandbox(controlContext()));
  const { options, token, clock, stores, heard, dispatcher } = machine;
  const { database, idempotencyReplies } = stores;
  let opened: ControlContext | undefined;
  // Who is never steered has no control plane.
  const controlContext = () => {
    opened ??= openControlContext(machine, () => url);
    return opened;
  };
  await begin(machine, controlContext);

  clock.watch(idempotencyReplies);
  const listening = await listen(
    options.port,
    options.host,
    openFront(machine, controlContext, () => listening.port),
  );
  const url = `http://${ownName(options)}:${listening.port}`;
  database.noteOwner(`process ${process.pid} at ${url}`);
  // A copy of the fixtures owes nobody anything; a file may, and so may a snapshot.
  dispatcher.start({ anew: database.isCopy && options.snapshot === undefined });
  const close = once(() => end(machine, opened, listening));
  return Object.assign(createControlClient(inProcessTransport(controlContext)), {
    url,
    baseUrl: url + API_PREFIX,
    port: listening.port,
    file: database.file,
    controlToken: token,
    onRequest: (listener: (entry: LoggedRequest) => void) => void heard.requests.add(listener),
    onHappening: machine.hub.listen,
    onDefect: (listener: (defect: Defect) => void) => void heard.defects.add(listener),
    close,
    [Symbol.asyncDispose]: close,
  });
}

/** Lets what is in flight finish, then frees everything. */
async function end(
  { hub, held, dispatcher, clock, stores }: Machine,
  controlContext: ControlContext | undefined,
  listening: ListeningServer,
): Promise<void> {
  hub.close();
  controlContext?.traffic.stop();
  controlContext?.verifier.stop();
  controlContext?.lessons.stop();
  held.releaseAll();
  await listening.close(CLOSE_WITHIN);
  await dispatcher.stop(CLOSE_WITHIN);
  clock.stop();
  controlContext?.snapshots.close();
  stores.close();
}

/** Fills the world as the fixtures or a snapshot have it, and arms the faults of a file and the scenarios. */
async function begin({ options, scenarios, stores }: Machine, controlContext: () => ControlContext): Promise<void> {
  const { snapshot, faults, scenario } = options;
  if (!stores.database.isCopy) controlContext().world.fill();
  if (snapshot !== undefined) {
    controlContext().snapshots.restoreFile(resolve(snapshot));
    controlContext().lessons.renew();
  }
  if (faults !== undefined) await armFile(resolve(faults), controlContext().faults.add);
  for (const given of scenario) await scenarios.startGiven(given);
}
