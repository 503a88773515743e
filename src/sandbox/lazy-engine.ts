// The engine and the control API of a sandbox, made on first use; and their start and end.

import { showSandbox } from "../control/overview.ts";
import type { ListeningServer } from "../http/server.ts";
import { afterRealTimeIfRunning, type Clock } from "../kernel/clock.ts";
import { SandboxError } from "../kernel/errors.ts";
import { describeOwner } from "../store/sqlite/inspect.ts";
import { type ControlApiParts, openControlApi } from "./control-api.ts";
import { type Engine, openEngine, type StorageOptions } from "./engine.ts";

export interface LazyEngine {
  /** The engine; a sandbox in memory makes it at its first connection, call or listener. */
  engine(): Engine;
  /** Most library users never call the control API. */
  controlApi(): ControlApiParts;
  /** Call it once the sandbox listens. An engine that is made later starts at once. */
  start(server: ListeningServer): void;
  /** Ends waiting calls, completes requests and then deliveries, and closes the database last. */
  close(): Promise<void>;
  /** The same after a failed start, without waiting: also removes the file if this start created it. */
  discard(): Promise<void>;
}

/** Real milliseconds that requests, and then deliveries, have to finish. */
const CLOSE_TIMEOUT = 5_000;
/** Real milliseconds after which an idle sandbox looks for the first time whether a record is due. */
const FIRST_LOOK = 1_000;

/** The parts that exist so far. */
interface Opened {
  engine?: Engine;
  controlApi?: ControlApiParts;
  server?: ListeningServer;
  isClosed?: true;
}

export function openLazyEngine(given: StorageOptions): LazyEngine {
  const { options, address, clock } = given;
  const opened: Opened = {};
  let cancelFirstLook = () => {};
  const lazy: LazyEngine = {
    engine() {
      if (opened.engine) return opened.engine;
      opened.engine = openEngine(given, () => showSandbox(lazy.controlApi()));
      if (opened.server) startEngine(opened.engine);
      return opened.engine;
    },
    controlApi() {
      if (opened.isClosed) throw new SandboxError("The sandbox is closed.");
      opened.controlApi ??= openControlApi(lazy.engine());
      return opened.controlApi;
    },
    start(server) {
      opened.server = server;
      address.port = server.port;
      if (opened.engine) startEngine(opened.engine);
      if (options.life === "off" || clock.mode === "frozen") return;
      // Deferred: most tests end before.
      cancelFirstLook = afterRealTimeIfRunning(FIRST_LOOK, () => {
        lazy.engine();
        clock.wake();
      });
    },
    async close() {
      cancelFirstLook();
      await stop(opened, clock, CLOSE_TIMEOUT);
      opened.engine?.stores.close();
    },
    async discard() {
      cancelFirstLook();
      await stop(opened, clock, 0);
      opened.engine?.stores.discard();
    },
  };
  return lazy;
}

/** Stops everything but the database. A call of this process meanwhile may still make the engine. */
async function stop(opened: Opened, clock: Clock, within: number): Promise<void> {
  const { controlApi, server } = opened;
  opened.engine?.judge.conclude();
  opened.engine?.hub.close();
  clock.endAdvances();
  controlApi?.traffic.stop();
  controlApi?.verifier.stop();
  controlApi?.lessons.stop();
  opened.engine?.heldResponses.releaseAll();
  await server?.close(within);
  await opened.engine?.dispatcher.stop(within);
  // Once more for the requests and deliveries that have just ended: clients of the live stream are gone, listeners in this process are not.
  opened.engine?.judge.conclude();
  clock.stop();
  opened.controlApi?.snapshots.close();
  opened.isClosed = true;
}

/** From here on the sandbox forgets expired idempotency keys, changes records on their dates, and delivers webhooks. */
function startEngine({ options, address, clock, stores, life, dispatcher }: Engine): void {
  const { database, idempotencyReplies } = stores;
  database.noteOwner(describeOwner({ pid: process.pid, url: address.url() }));
  clock.watch(idempotencyReplies);
  clock.watch(life);
  // A copy of the fixtures has no deliveries to resume; a file or a snapshot may.
  dispatcher.start({ recover: !database.isCopy || options.snapshot !== undefined });
}
