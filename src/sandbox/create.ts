// createSandbox(): reads the options, fills the database, opens the sockets, and creates the engine and the control API
// on first use.

import type { LiveEvent } from "../../generated/control-api.ts";
import { type ControlTransport, createControlClient } from "../client/control-call.ts";
import { type SandboxApi, withEffects } from "../client/effects.ts";
import { connect } from "../client/http-transport.ts";
import { API_PREFIX } from "../contracts/paths.ts";
import { VERDICT_RANK, type VerdictMessage } from "../contracts/verdict.ts";
import { type ControlContext, controlCatalogue } from "../control/index.ts";
import { showSandbox } from "../control/overview.ts";
import { runControlOperation } from "../http/control-operation.ts";
import type { Middleware, MountedServer } from "../http/mount.ts";
import type { ListeningServer } from "../http/server.ts";
import { afterRealTimeIfRunning, type Clock, createClock, isoTime } from "../kernel/clock.ts";
import { asMisuse, atCaller, SandboxError, usageError } from "../kernel/errors.ts";
import { once } from "../kernel/once.ts";
import { createRandom } from "../kernel/random.ts";
import { Document, JsonParts } from "../kernel/reply-bodies.ts";
import type { RequestEntry } from "../store/request-log/request-log.ts";
import { createMountedAddress, createOwnAddress } from "./address.ts";
import { type ControlApiParts, openControlApi } from "./control-api.ts";
import {
  type Defect,
  type Engine,
  openEngine,
  operations,
  prepareStorage,
  reportDefect,
  type StorageOptions,
} from "./engine.ts";
import { checkOptions, completeOptions, type GivenOptions, type Options, ownHost } from "./options.ts";
import { mount, type Served, serve } from "./serve.ts";
import { openSockets } from "./sockets.ts";

/** A running sandbox: its address, its listeners, and a method for each operation of the control API. */
export interface Sandbox extends SandboxApi {
  /**
   * The address of the sandbox, such as `http://127.0.0.1:4747`. With `listen: false`, the address at which the app has
   * mounted the sandbox, such as `http://localhost:3000/pay`; empty until a request has arrived or a server is
   * attached.
   */
  readonly url: string;
  /** The base URL for a client of the service: `url` followed by `/v1`. */
  readonly baseUrl: string;
  /** The port that the sandbox listens on. With `listen: false`, the port of the app's server. */
  readonly port: number;
  /** The SQLite file; undefined when everything is in memory. */
  readonly file: string | undefined;
  /** The token that the control API requires over HTTP; undefined when it requires none, as on loopback. */
  readonly controlToken: string | undefined;
  /** Adds a listener that is called after each response of the service. */
  onRequest(listener: (entry: RequestEntry) => void): void;
  /**
   * Adds a listener for every event: requests, delivery attempts, verdicts, faults that fire, lessons, clock changes
   * and resets.
   */
  onLiveEvent(listener: (event: LiveEvent) => void): void;
  /** Adds a listener for internal errors of the sandbox. */
  onDefect(listener: (defect: Defect) => void): void;
  /**
   * Serves /v1 and /_sandbox inside an app: `app.use(sandbox.middleware)` in Express, connect or Fastify with
   * `@fastify/middie`, or `createServer(sandbox.middleware)`. Calls `next` for every other path. Needs a sandbox that
   * was created with `listen: false`.
   *
   * @example
   * const sandbox = await createSandbox({ listen: false });
   * express().use("/pay", sandbox.middleware).listen(3000); // http://localhost:3000/pay/v1/payments
   */
  readonly middleware: Middleware;
  /**
   * Serves the live stream, which the dashboard reads, on the server of the app. `path` is where the app has mounted
   * the sandbox (default: at the root).
   */
  attach(server: MountedServer, path?: string): void;
  /** Waits for requests and deliveries in flight, then closes the port and the file. An app's server stays as it is. */
  close(): Promise<void>;
  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Tests want a sandbox in memory on a free port; the command line has other defaults. */
const LIBRARY_DEFAULTS: Partial<Options> = { memory: true, port: 0 };

/** The options of `createSandbox()`. */
export interface SandboxOptions extends GivenOptions {
  /** Whether to listen on a port of its own (default: true). With false, an app serves the sandbox's `middleware`. */
  listen?: boolean | undefined;
}

export async function createSandbox(given: SandboxOptions = {}): Promise<Sandbox> {
  try {
    return await openSandbox(given);
  } catch (error) {
    throw atCaller(error, createSandbox);
  }
}

/**
 * Creates the sandbox of a command. `toConfirm` names the endpoints that a folder's merchant-sandbox.json sets: their
 * deliveries wait until the user has confirmed them once. `awaited` is the URL of an app that starts later: deliveries
 * to it, including an existing database's, wait until its server accepts connections. With `isRun`, the report of
 * `exec` leaves out what an existing database has logged before.
 */
export async function openSandbox(
  { listen: hasPort = true, ...given }: SandboxOptions,
  {
    toConfirm,
    awaited,
    isRun = false,
  }: Partial<Pick<StorageOptions, "toConfirm" | "awaited">> & { isRun?: boolean } = {},
): Promise<Sandbox> {
  const options = checkOptions(completeOptions(given, LIBRARY_DEFAULTS), operations);
  if (!hasPort && given.port !== undefined)
    usageError("A sandbox with { listen: false } has no port of its own: leave port out, or listen.");
  const clock = createClock(options.clock);
  const address = hasPort ? createOwnAddress(ownHost(options)) : createMountedAddress();
  const random = createRandom(options.seed);
  const prepared = await prepareStorage({ options, toConfirm, awaited, address, clock, random });
  const lazy = openLazyEngine(prepared);
  try {
    if (isChanged(options)) await lazy.controlApi().start.setUp();
    if (isRun) lazy.engine().stores.run.begin();
    const handlers = once(() => openSockets(lazy.engine(), lazy.controlApi, !hasPort));
    const served =
      "listensOn" in address ? await serve(options, address, handlers) : mount(address, handlers, lazy.mounted);
    lazy.start(served);
    if (hasPort) await addToRun(address.url(), null, []);
    const client = withEffects(createControlClient(inProcessTransport(lazy.controlApi)));
    return withProperties(client, describe(prepared, lazy, served));
  } catch (error) {
    await lazy.discard();
    throw error;
  }
}

/** Adds properties to an object, and keeps getters as getters. */
const withProperties = <Base extends object, Added extends object>(base: Base, added: Added): Base & Added =>
  Object.defineProperties(base, Object.getOwnPropertyDescriptors(added)) as Base & Added;

/**
 * Whether the data differ from a copy of the fixtures in memory. Without this check, each sandbox would create its
 * control API at the start.
 */
const isChanged = ({ memory, snapshot, faults, scenario, endpoints }: Options) =>
  !memory || snapshot !== undefined || faults !== undefined || scenario.length + endpoints.length > 0;

function describe(
  { options, address }: StorageOptions,
  { engine, close }: ReturnType<typeof openLazyEngine>,
  { middleware, attach }: Served,
) {
  const closeOnce = once(close);
  return {
    get url() {
      return address.url();
    },
    get baseUrl() {
      return address.url() + API_PREFIX;
    },
    get port() {
      return address.port();
    },
    middleware,
    attach,
    file: options.memory ? undefined : engine().stores.database.file,
    controlToken: options.controlToken,
    onRequest: (listener: (entry: RequestEntry) => void) => void engine().listeners.request.add(listener),
    onLiveEvent: (listener: (event: LiveEvent) => void) => engine().hub.listen(listener),
    onDefect: (listener: (defect: Defect) => void) => void engine().listeners.defect.add(listener),
    close: closeOnce,
    [Symbol.asyncDispose]: closeOnce,
  };
}

/** Real milliseconds that requests, and then deliveries, have to finish. */
const CLOSE_TIMEOUT = 5_000;
/** Real milliseconds after which a sandbox first checks whether a record is due. */
const FIRST_CHECK = 1_000;

/** The parts of a sandbox that exist already; the others are created on first use. */
interface Opened {
  engine?: Engine;
  controlApi?: ControlApiParts;
  server?: Pick<ListeningServer, "close">;
  isClosed?: true;
}

/**
 * Creates the parts of a sandbox on first use. A sandbox in memory creates its engine at the first connection, call or
 * listener.
 */
function openLazyEngine(given: StorageOptions) {
  const { options, address, clock } = given;
  const opened: Opened = {};
  let cancelFirstCheck = () => {};
  let announced = Promise.resolve();
  let requests = 0;
  const lazy = {
    engine(): Engine {
      if (opened.engine) return opened.engine;
      opened.engine = openEngine(given, () => showSandbox(lazy.controlApi()));
      opened.engine.listeners.request.add(() => requests++);
      if (opened.server) startEngine(opened.engine);
      return opened.engine;
    },
    /** Created on first use: most library users never call the control API. */
    controlApi(): ControlApiParts {
      if (opened.isClosed) throw new SandboxError("The sandbox is closed.");
      opened.controlApi ??= openControlApi(lazy.engine());
      return opened.controlApi;
    },
    /** Call it once the sandbox listens or is ready to be mounted. An engine that is created later starts at once. */
    start(server: Pick<ListeningServer, "close">) {
      opened.server = server;
      if (opened.engine) startEngine(opened.engine);
      if (options.life === "off" || clock.mode === "frozen") return;
      // Deferred, because most tests end sooner.
      cancelFirstCheck = afterRealTimeIfRunning(FIRST_CHECK, () => {
        lazy.engine();
        clock.wake();
      });
    },
    /** Call it when a sandbox mounted in an app knows its address. */
    mounted() {
      const { stores, listeners } = lazy.engine();
      stores.database.listensAt(address.url());
      // The first request does not wait for the registration.
      announced = addToRun(address.url(), null, []).catch((error) => reportDefect(listeners, error, "exec"));
    },
    /** Ends waiting calls, completes requests and then deliveries, and closes the database last. */
    async close() {
      cancelFirstCheck();
      await stop(opened, clock, CLOSE_TIMEOUT);
      const verdicts = opened.engine?.judge.verdicts({ erased: true }) ?? [];
      opened.engine?.stores.close();
      await announced;
      await addToRun(address.url(), requests, verdicts);
    },
    /** Closes after a failed start, without waiting, and removes the file if this start created it. */
    async discard() {
      cancelFirstCheck();
      await stop(opened, clock, 0);
      opened.engine?.stores.discard();
    },
  };
  return lazy;
}

/** Stops everything but the database. `opened` is read again after each wait: a call may have created a part. */
async function stop(opened: Opened, clock: Clock, within: number): Promise<void> {
  const { controlApi, server } = opened;
  opened.engine?.judge.conclude();
  opened.engine?.hub.close();
  clock.endAdvances();
  controlApi?.verifier.stop();
  controlApi?.lessons.stop();
  opened.engine?.heldResponses.releaseAll();
  opened.engine?.dispatcher.endWaits();
  await server?.close(within);
  await opened.engine?.dispatcher.stop(within);
  // Concludes again for requests and deliveries that have just ended. The live stream is closed, but listeners in this
  // process get the verdicts.
  opened.engine?.judge.conclude();
  opened.engine?.judge.stop();
  await opened.engine?.spans?.close(within);
  clock.stop();
  opened.controlApi?.snapshots.close();
  opened.isClosed = true;
}

/**
 * Starts the work in the background: expiring idempotency keys, changing records on their dates, and delivering
 * webhooks.
 */
function startEngine({ options, address, clock, stores, life, dispatcher, awaited }: Engine): void {
  const { database, idempotencyReplies, deliveries } = stores;
  database.listensAt(address.url());
  clock.watch(idempotencyReplies);
  clock.watch(life);
  for (const endpoint of awaited === undefined ? [] : deliveries.endpointsAt(awaited))
    void dispatcher.awaitServer(endpoint, { within: Infinity });
  // A copy of the fixtures has no deliveries to resume; a file or a snapshot may.
  dispatcher.start({ recover: !database.isCopy || options.snapshot !== undefined });
}

/** The most verdicts that fit into one call. */
const MOST_ADDED = 500;

/**
 * Registers a test's own sandbox with the `exec` that runs the test: at its start with `requests` null, so that `exec`
 * knows of it even if it is never closed, and at its end with its verdicts. Does nothing outside of `exec`.
 */
async function addToRun(sandbox: string, requests: number | null, verdicts: readonly VerdictMessage[]): Promise<void> {
  const {
    MERCHANT_SANDBOX_EXEC: mark,
    MERCHANT_SANDBOX_URL: url,
    MERCHANT_SANDBOX_CONTROL_TOKEN: controlToken,
  } = process.env;
  // A mounted sandbox has no address before its first request.
  if (mark === undefined || url === undefined || sandbox === "") return;
  const added = verdicts
    .toSorted((one, other) => VERDICT_RANK[one.verdict] - VERDICT_RANK[other.verdict])
    .slice(0, MOST_ADDED);
  await connect(url, { controlToken }).verdicts.add({
    sandbox,
    requests,
    verdicts: added.map((verdict) => asForeign(sandbox, verdict)),
  });
}

/** A verdict for another sandbox. Ids are unique within one sandbox only, so they are prefixed with the port. */
function asForeign(sandbox: string, { at, merchant, message, requests, attempts, calls, ...verdict }: VerdictMessage) {
  const { port } = new URL(sandbox);
  const named = (id: string) => `${port}/${id}`;
  return {
    ...verdict,
    id: null,
    at: isoTime(at),
    merchant: null,
    fault: null,
    message: `In a test's own sandbox, ${[sandbox, merchant].filter((part) => part !== null).join(", ")}: ${message}`,
    requests: requests.map(named),
    attempts: attempts.map(named),
    calls: calls.map((call) => ({ ...call, request: named(call.request) })),
  };
}

const controlOperations = once(() => new Map(controlCatalogue.map((operation) => [operation.id, operation])));

const inProcessTransport =
  (context: () => ControlContext): ControlTransport =>
  async (_, { operation, params, search, body = {} }) => {
    const found = controlOperations().get(operation);
    if (!found)
      throw new Error(`The control API has no operation ${operation}, which the client calls: run npm run docs`);
    const world = context();
    // Input and reply are copied, as over HTTP, so that later changes by the caller have no effect here.
    const received = { search, body: JSON.parse(JSON.stringify(body)), headers: {}, query: {}, extra: {} };
    const reply = await runControlOperation(found, world, { ...params }, received).catch((error: unknown) => {
      throw asMisuse(error);
    });
    if (reply instanceof Document) return reply.text;
    return JSON.parse(reply instanceof JsonParts ? [...reply.parts].join("") : JSON.stringify(reply));
  };
