// Shows the app of `dev` on the dashboard and in plain output, and makes deliveries wait for the app's server.

import type { AppView } from "../../../ui/state/app.ts";
import { afterRealTimeIfRunning } from "../../kernel/clock.ts";
import type { Output, WatchedSandbox } from "../output/output.ts";
import type { RunningSandbox } from "../remote/running-sandbox.ts";
import { type App, startApp } from "./app.ts";

/** Real milliseconds after which the user is told that the app's server still does not respond. */
const LATE_AFTER = 10_000;

export interface AwaitedEndpoint {
  id: string;
  url: string;
}

/** Buffers lines until the first view opens. A dashboard shows them in a pane, so they are then not printed. */
function createPrinter() {
  let output: Output | undefined;
  let early: ((to: Output) => void)[] | undefined = [];
  return {
    print(write: (to: Output) => void) {
      if (output) write(output);
      else early?.push(write);
    },
    begin(to: Output) {
      output = to;
      for (const write of early?.splice(0) ?? []) write(to);
    },
    pause() {
      output = undefined;
      early = undefined;
    },
  };
}

export function createAppView({ endpoints }: RunningSandbox["control"]) {
  const listeners = new Set<() => void>();
  let app: App | undefined;
  let awaited: AwaitedEndpoint | undefined;
  let isWaiting = false;
  let isClosed = false;
  const printer = createPrinter();
  const changed = () => {
    for (const listener of listeners) listener();
  };
  const say = (text: string) => printer.print((to) => to.notice({ event: "app", message: text }, text));
  /** Deliveries wait from each start of the app until its server accepts connections. */
  const holdDeliveries = async () => {
    if (isWaiting || awaited === undefined) return;
    const { id, url } = awaited;
    isWaiting = true;
    const cancelLate = afterRealTimeIfRunning(LATE_AFTER, () =>
      say(`The app does not accept connections at ${url} yet; its webhooks wait.`),
    );
    const said = await endpoints.await({ id, within: "24h" }).then(
      ({ accepts }) => (accepts ? `The app accepts connections at ${url}.` : `Webhooks to ${url} no longer wait.`),
      ({ message }: Error) => message,
    );
    cancelLate();
    isWaiting = false;
    if (isClosed) return;
    say(said);
    changed();
  };
  const view: AppView = {
    state: () => ({
      status: [app?.status(), isWaiting && "webhooks wait for it"].filter(Boolean).join("; "),
      lines: app?.lines() ?? [],
    }),
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    restart: () => void app?.restart().then(holdDeliveries),
  };
  return {
    app: () => app,
    /** Stops printing about the app. */
    close() {
      isClosed = true;
    },
    /** Starts the app. Deliveries to `endpoint` wait for it. Adds a warning if another program already has its port. */
    async start(command: readonly string[], variables: NodeJS.ProcessEnv, endpoint: AwaitedEndpoint | undefined) {
      awaited = endpoint;
      const isTaken = endpoint && (await endpoints.await({ id: endpoint.id, within: "1ms" })).accepts;
      void holdDeliveries();
      app = startApp(command, variables, { line: (text, from) => printer.print((to) => to.app(text, from)), changed });
      if (isTaken) app.addLine(`Before the app has started, another program accepts connections at ${endpoint.url}.`);
    },
    /** The sandbox with the app beside it. */
    watch: (watched: WatchedSandbox): WatchedSandbox => ({
      ...watched,
      app: view,
      ended: app?.endedAlone,
      failed: app?.failed,
      whileDashboard(show) {
        printer.pause();
        return watched.whileDashboard?.(show) ?? (() => {});
      },
      async follow(to, from) {
        const following = await watched.follow(to, from);
        printer.begin(to);
        return following;
      },
    }),
  };
}
