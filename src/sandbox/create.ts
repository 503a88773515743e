// createSandbox(): makes the parts in order, opens the sockets, and closes everything again.

import { resolve } from "node:path";
import { createControlClient } from "../client/control-client.ts";
import type { ControlPlane } from "../client/control-plane.generated.ts";
import type { LiveEvent } from "../contracts/live-messages.ts";
import { NewEndpoint } from "../contracts/webhook.ts";
import type { ControlContext } from "../control/control-context.ts";
import { register } from "../control/endpoints.ts";
import { showSandbox } from "../control/overview.ts";
import { addRulesFromFile } from "../faults/rules-file.ts";
import { API_PREFIX } from "../http/route.ts";
import { type ListeningServer, listen } from "../http/server.ts";
import { afterRealTimeIfRunning, createClock } from "../kernel/clock.ts";
import { ApiError, SandboxError } from "../kernel/errors.ts";
import { once } from "../kernel/once.ts";
import { createRandom } from "../kernel/random.ts";
import { fieldErrors } from "../schema/validator.ts";
import type { JournalEntry } from "../store/journal/request-log.ts";
import { describeOwner } from "../store/sqlite/inspect.ts";
import { CONFIG_FILE } from "./config-schema.ts";
import { openControlPlane } from "./control-plane.ts";
import { createEngine, type Defect, type Engine, openStorage, operations } from "./engine.ts";
import { inProcessTransport } from "./in-process-transport.ts";
import { checkOptions, completeOptions, type GivenOptions, type Options } from "./options.ts";
import { openSockets } from "./sockets.ts";

/** A running sandbox: its address, its listeners, and a method for each operation of the control plane. */
export interface Sandbox extends ControlPlane {
  /** The address of the sandbox, such as `http://127.0.0.1:4747`. */
  readonly url: string;
  /** The base URL for a client of the service: `url` followed by `/v1`. */
  readonly baseUrl: string;
  /** The port that the sandbox listens on. */
  readonly port: number;
  /** The SQLite file; undefined when everything is in memory. */
  readonly file: string | undefined;
  /** The token that the control plane requires over HTTP; undefined when it requires none, as on loopback. */
  readonly controlToken: string | undefined;
  /** Adds a listener that is called after each response of the service. */
  onRequest(listener: (entry: JournalEntry) => void): void;
  /** Adds a listener for every event: requests, delivery attempts, verdicts, faults that fire, lessons, clock changes and resets. */
  onHappening(listener: (happening: LiveEvent) => void): void;
  /** Adds a listener for internal errors of the sandbox. */
  onDefect(listener: (defect: Defect) => void): void;
  /** Waits for requests and deliveries in flight, then closes the port and the file. */
  close(): Promise<void>;
  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Tests want a sandbox in memory on a free port; the command line has other defaults. */
const LIBRARY_DEFAULTS: Partial<Options> = { memory: true, port: 0 };
/** Real milliseconds that requests, and then deliveries, have to finish. */
const CLOSE_TIMEOUT = 5_000;
/** Real milliseconds after which an idle sandbox looks for the first time whether a record is due. */
const FIRST_LOOK = 1_000;

export async function createSandbox(given: GivenOptions = {}): Promise<Sandbox> {
  const options = checkOptions(completeOptions(given, LIBRARY_DEFAULTS), operations);
  const clock = createClock(options.clock);
  const storage = await openStorage(options, clock, createRandom(options.seed));
  try {
    const engine = createEngine(storage, () => showSandbox(controlPlane()));
    // Built on first use: most library users never call the control plane.
    let opened: ControlContext | undefined;
    const controlPlane = () => {
      opened ??= openControlPlane(engine);
      return opened;
    };
    await fill(engine, controlPlane);
    const server = await listen(options.port, options.host, openSockets(engine, controlPlane));
    start(engine, server);
    return Object.assign(
      createControlClient(inProcessTransport(controlPlane)),
      describe(
        engine,
        once(() => close(engine, opened, server)),
      ),
    );
  } catch (error) {
    clock.stop();
    storage.stores.discard();
    throw error;
  }
}

/** Seeds a new file, restores the snapshot, and arms the fault rules and scenarios that the options name. */
async function fill({ options, scenarios, stores }: Engine, controlPlane: () => ControlContext): Promise<void> {
  const { snapshot, faults, scenario, endpoints } = options;
  if (!stores.database.isCopy) controlPlane().world.fill();
  if (snapshot !== undefined) {
    controlPlane().snapshots.restoreFile(resolve(snapshot));
    controlPlane().lessons.reset();
  }
  if (faults !== undefined) {
    // A restart with the same file and database arms the same rules again.
    const add = (rule: unknown) => controlPlane().faults.add(rule, { resumes: true });
    // A wrong rule among the options is misuse of the command, like any other wrong option.
    await addRulesFromFile(faults, add, faults === CONFIG_FILE ? "usage" : "badFixture");
  }
  for (const nameOrFile of scenario) await scenarios.startGiven(nameOrFile);
  for (const [index, endpoint] of endpoints.entries()) await registerGiven(controlPlane(), endpoint, `/endpoints/${index}`);
}

/** An error names the field by a pointer into the options, which the command finds in merchant-sandbox.json. */
async function registerGiven(controlPlane: ControlContext, endpoint: NewEndpoint, pointer: string): Promise<void> {
  const [error] = fieldErrors(NewEndpoint, endpoint);
  if (error) throw new SandboxError(`The endpoint ${JSON.stringify(endpoint)} cannot be registered: ${error.message}`, "usage");
  await register(controlPlane, endpoint).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    const { code, message } = error;
    const field = { resource_not_found: "merchant", validation_failed: "events" }[code as string] ?? "url";
    const details = { pointer: `${pointer}/${field}` };
    throw new SandboxError(`The endpoint ${endpoint.url} cannot be registered: ${message}`, "usage", { code, details });
  });
}

/** From here on the sandbox has an address, forgets expired idempotency keys, and delivers webhooks. */
function start({ options, address, clock, stores, life, dispatcher }: Engine, server: ListeningServer): void {
  const { database, idempotencyReplies } = stores;
  address.port = server.port;
  database.noteOwner(describeOwner({ pid: process.pid, url: address.url() }));
  clock.watch(idempotencyReplies);
  clock.watch(life);
  // Deferred: an image in memory is opened at its first use, and most tests end before.
  if (life.isOn && clock.mode !== "frozen") afterRealTimeIfRunning(FIRST_LOOK, clock.wake);
  // A copy of the fixtures has no deliveries to resume; a file or a snapshot may.
  dispatcher.start({ recover: !database.isCopy || options.snapshot !== undefined });
}

function describe({ options, address, stores, hub, listeners }: Engine, close: () => Promise<void>) {
  return {
    url: address.url(),
    baseUrl: address.url() + API_PREFIX,
    port: address.port,
    file: stores.database.file,
    controlToken: options.controlToken,
    onRequest: (listener: (entry: JournalEntry) => void) => void listeners.request.add(listener),
    onHappening: hub.listen,
    onDefect: (listener: (defect: Defect) => void) => void listeners.defect.add(listener),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Ends waiting calls, completes requests and then deliveries, and closes the database last. */
async function close(
  { hub, heldResponses, dispatcher, judge, clock, stores }: Engine,
  opened: ControlContext | undefined,
  server: ListeningServer,
) {
  judge.conclude();
  hub.close();
  clock.endAdvances();
  opened?.traffic.stop();
  opened?.verifier.stop();
  opened?.lessons.stop();
  heldResponses.releaseAll();
  await server.close(CLOSE_TIMEOUT);
  await dispatcher.stop(CLOSE_TIMEOUT);
  // Once more for the requests and deliveries that have just ended: clients of the live stream are gone, listeners in this process are not.
  judge.conclude();
  clock.stop();
  opened?.snapshots.close();
  stores.close();
}
