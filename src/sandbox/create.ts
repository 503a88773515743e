// createSandbox(): reads the options, fills the database, and opens the sockets.

import { resolve } from "node:path";
import type { ControlApi } from "../../generated/control-api.ts";
import { createControlClient } from "../client/control-client.ts";
import type { LiveEvent } from "../contracts/live-messages.ts";
import { NewEndpoint } from "../contracts/webhook.ts";
import { register } from "../control/endpoints.ts";
import { addRulesFromFile } from "../faults/rules-file.ts";
import { API_PREFIX } from "../http/route.ts";
import { listen } from "../http/server.ts";
import { createClock } from "../kernel/clock.ts";
import { ApiError, SandboxError } from "../kernel/errors.ts";
import { once } from "../kernel/once.ts";
import { createRandom } from "../kernel/random.ts";
import { fieldErrors } from "../schema/validator.ts";
import type { RequestEntry } from "../store/request-log/request-log.ts";
import { CONFIG_FILE } from "./config-schema.ts";
import type { ControlApiParts } from "./control-api.ts";
import { type Defect, operations, prepareStorage, type StorageOptions } from "./engine.ts";
import { inProcessTransport } from "./in-process-transport.ts";
import { type LazyEngine, openLazyEngine } from "./lazy-engine.ts";
import { checkOptions, completeOptions, type GivenOptions, type Options } from "./options.ts";
import { openSockets } from "./sockets.ts";

/** A running sandbox: its address, its listeners, and a method for each operation of the control API. */
export interface Sandbox extends ControlApi {
  /** The address of the sandbox, such as `http://127.0.0.1:4747`. */
  readonly url: string;
  /** The base URL for a client of the service: `url` followed by `/v1`. */
  readonly baseUrl: string;
  /** The port that the sandbox listens on. */
  readonly port: number;
  /** The SQLite file; undefined when everything is in memory. */
  readonly file: string | undefined;
  /** The token that the control API requires over HTTP; undefined when it requires none, as on loopback. */
  readonly controlToken: string | undefined;
  /** Adds a listener that is called after each response of the service. */
  onRequest(listener: (entry: RequestEntry) => void): void;
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

export async function createSandbox(given: GivenOptions = {}): Promise<Sandbox> {
  const options = checkOptions(completeOptions(given, LIBRARY_DEFAULTS), operations);
  const clock = createClock(options.clock);
  const prepared = await prepareStorage(options, clock, createRandom(options.seed));
  const lazy = openLazyEngine(prepared);
  try {
    await fill(options, lazy);
    const handlers = once(() => openSockets(lazy.engine(), lazy.controlApi));
    lazy.start(await listen(options.port, options.host, handlers));
    return Object.assign(createControlClient(inProcessTransport(lazy.controlApi)), describe(prepared, lazy));
  } catch (error) {
    await lazy.discard();
    throw error;
  }
}

/** Seeds a new file, restores the snapshot, and arms the fault rules and scenarios that the options name. */
async function fill(options: Options, { engine, controlApi }: LazyEngine): Promise<void> {
  const { memory, snapshot, faults, scenario, endpoints } = options;
  // In memory, the database is a copy of the fixtures.
  if (!memory) controlApi().world.fill();
  if (snapshot !== undefined) {
    controlApi().snapshots.restoreFile(resolve(snapshot));
    controlApi().lessons.reset();
  }
  if (faults !== undefined) {
    // A restart with the same file and database arms the same rules again.
    const add = (rule: unknown) => controlApi().faults.add(rule, { resumes: true });
    // A wrong rule among the options is misuse of the command, like any other wrong option.
    await addRulesFromFile(faults, add, faults === CONFIG_FILE ? "usage" : "badFixture");
  }
  for (const nameOrFile of scenario) await engine().scenarios.startGiven(nameOrFile);
  for (const [index, endpoint] of endpoints.entries()) await registerGiven(controlApi(), endpoint, `/endpoints/${index}`);
}

/** An error names the field by a pointer into the options, which the command finds in merchant-sandbox.json. */
async function registerGiven(controlApi: ControlApiParts, endpoint: NewEndpoint, pointer: string): Promise<void> {
  const [error] = fieldErrors(NewEndpoint, endpoint);
  if (error) throw new SandboxError(`The endpoint ${JSON.stringify(endpoint)} cannot be registered: ${error.message}`, "usage");
  await register(controlApi, endpoint).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    const { code, message } = error;
    const field = { resource_not_found: "merchant", validation_failed: "events" }[code as string] ?? "url";
    const details = { pointer: `${pointer}/${field}` };
    throw new SandboxError(`The endpoint ${endpoint.url} cannot be registered: ${message}`, "usage", { code, details });
  });
}

function describe({ options, address }: StorageOptions, { engine, close }: LazyEngine) {
  const closeOnce = once(close);
  return {
    url: address.url(),
    baseUrl: address.url() + API_PREFIX,
    port: address.port,
    file: options.memory ? undefined : engine().stores.database.file,
    controlToken: options.controlToken,
    onRequest: (listener: (entry: RequestEntry) => void) => void engine().listeners.request.add(listener),
    onHappening: (listener: (happening: LiveEvent) => void) => engine().hub.listen(listener),
    onDefect: (listener: (defect: Defect) => void) => void engine().listeners.defect.add(listener),
    close: closeOnce,
    [Symbol.asyncDispose]: closeOnce,
  };
}
