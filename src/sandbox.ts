// The composition root: the whole machine on one screen.

import type { IncomingMessage, ServerResponse } from "node:http";
import { resolve } from "node:path";
import { catalogue, eventTypes, resources } from "./areas/index.ts";
import type { Console } from "./control/console.ts";
import { controlCatalogue } from "./control/index.ts";
import type { Context } from "./http/context.ts";
import { createGuard } from "./http/guard.ts";
import { createLimiter, type Rules } from "./http/limit.ts";
import { pipe } from "./http/pipe.ts";
import { createRecorder } from "./http/record.ts";
import { isService, PREFIX } from "./http/route.ts";
import { listen } from "./http/server.ts";
import { type Clock, createClock } from "./kernel/clock.ts";
import { SandboxError } from "./kernel/errors.ts";
import { createDice, unguessable } from "./kernel/random.ts";
import { completeOptions, type GivenOptions, type Options } from "./options.ts";
import { version } from "./package.ts";
import type { JournalEntry } from "./store/journal.ts";
import { openStores, type Stores } from "./store/stores.ts";
import type { Tenant } from "./store/tenants.ts";
import { scheduleOf } from "./webhooks/schedule.ts";
import { createTargets } from "./webhooks/target.ts";

export interface Defect {
  error: unknown;
  /** The request that brought it out. */
  requestId: string;
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
  /** Hears of each request once it is answered. */
  onRequest(listener: (entry: JournalEntry) => void): void;
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
  const file = options.memory ? undefined : resolve(options.db);
  const clock = createClock(options.clock);
  const { gaps } = scheduleOf(options.retrySchedule);
  const targets = createTargets({ ownPorts: () => [], allowedHosts: options.allowWebhookHost });
  const stores = openStores(file, clock, createDice(options.seed), { gaps, checkTarget: targets.check, eventTypes });
  try {
    return await run(options, stores, clock, token);
  } catch (error) {
    clock.stop();
    stores.close();
    throw error;
  }
}

async function run(options: Options, stores: Stores, clock: Clock, token: string | undefined): Promise<Sandbox> {
  const requests = new Set<(entry: JournalEntry) => void>();
  const defects = new Set<(defect: Defect) => void>();
  const report = (error: unknown, { id }: Context) => tell(defects, { error, requestId: id });

  const guard = createGuard(() => listening.port, options.allowedHost, options.allowedOrigin);
  const limiter = createLimiter(options.rateLimit as Rules);
  const recorder = createRecorder(stores.journal, clock, (entry) => tell(requests, entry));
  const answer = pipe({
    ...stores,
    guard,
    catalogue,
    clock,
    limiter,
    bodies: options.bodies,
    committed: clock.wake,
    answered: recorder.close,
    report,
  });

  const world: Console = {
    ...stores,
    about: { version: version(), url: () => url, file: stores.database.file },
    clock,
    catalogue,
    resources,
    documents: documents(),
  };
  // Express is loaded when somebody first asks for what it carries: a start that only serves /v1 does without.
  const app = once(async () =>
    (await import("./http/app.ts")).createApp({ guard, clock, control: controlCatalogue, world, token, report }),
  );
  const request = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (isService(incoming.url)) void answer(recorder.open(incoming, outgoing));
    else void app().then((handle) => handle(incoming, outgoing));
  };

  clock.watch(stores.replies);
  const listening = await listen(options.port, options.host, { request });
  const url = `http://${options.host ?? "127.0.0.1"}:${listening.port}`;
  stores.database.own(`process ${process.pid} at ${url}`);

  const close = once(async () => {
    await listening.close(CLOSE_WITHIN);
    clock.stop();
    stores.close();
  });
  return {
    url,
    baseUrl: url + PREFIX,
    port: listening.port,
    file: stores.database.file,
    controlToken: token,
    merchants: () => stores.tenants.list(),
    onRequest: (listener) => void requests.add(listener),
    onDefect: (listener) => void defects.add(listener),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Beyond loopback, other machines can reach the control plane: then it wants a token, and a name it may be called by. */
function controlToken({ host, allowedHost, controlToken: given }: Options): string | undefined {
  if (host === undefined || /^(localhost|127(\.\d+){3}|::1)$/.test(host)) return given;
  if (allowedHost.length === 0)
    throw new SandboxError(
      `--host ${host} opens the sandbox to the network: say with --allowed-host NAME by which name it may be called.`,
      "usage",
    );
  return given ?? unguessable();
}

function tell<T>(listeners: Set<(value: T) => void>, value: T): void {
  for (const listener of listeners) listener(value);
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
