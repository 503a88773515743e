// Dispatches requests: the request pipeline answers /v1, the control app everything else, and the hub the live stream.

import { existsSync, readFileSync } from "node:fs";
import { CONTROL_PREFIX } from "../contracts/paths.ts";
import { controlCatalogue } from "../control/index.ts";
import { inlinePage } from "../control/pages/inline-page.ts";
import { faultStages } from "../faults/call-stages.ts";
import { refuseLiveKeyIn } from "../http/authenticate.ts";
import { openContext } from "../http/context.ts";
import { createControlApp } from "../http/control-app.ts";
import { tokenCheck } from "../http/control-operation.ts";
import { createCors } from "../http/cors.ts";
import { createGuard, type Guard } from "../http/guard.ts";
import { createPipeline } from "../http/pipeline.ts";
import { sendFailure } from "../http/reply.ts";
import { createRequestRecorder } from "../http/request-recorder.ts";
import { isApiPath } from "../http/request-target.ts";
import { createUpgradeHandler, type ServerHandlers } from "../http/server.ts";
import { usageError } from "../kernel/errors.ts";
import { notifyEach } from "../kernel/listeners.ts";
import { once } from "../kernel/once.ts";
import { Document } from "../kernel/reply-bodies.ts";
import { serviceHeaders } from "../reference/headers.ts";
import { reportStyle } from "../report/html-page.ts";
import type { RequestEntry } from "../store/request-log/request-log.ts";
import type { ControlApiParts } from "./control-api.ts";
import { type Engine, reportDefect } from "./engine.ts";
import { opensNetwork, ownHost } from "./options.ts";
import { packageFile } from "./package-files.ts";
import { skillPage } from "./skill-page.ts";

const responseHeaders = serviceHeaders.map(({ name }) => name);

export function openSockets(engine: Engine, controlApi: () => ControlApiParts, isMounted: boolean): ServerHandlers {
  const { options, address, clock, hub, listeners } = engine;
  const report: Report = (error, { id }) => reportDefect(listeners, error, id);
  const cors = createCors(options.allowedOrigin, responseHeaders);
  const extraHosts = [...options.allowedHost, ownHost(options)];
  const isLocalOnly = isMounted && !opensNetwork(options);
  const guard = createGuard({ port: address.portOf, isLocalOnly, extraHosts, cors });
  const requireToken = tokenCheck(options.controlToken, opensNetwork(options));
  const { recorder, pipeline } = openService(engine, guard, report);
  const control = once(() =>
    createControlApp({
      guard,
      clock,
      control: controlCatalogue,
      world: controlApi(),
      requireToken,
      prepare: engine.stores.requestLog.catchUp,
      report,
      loadPage: loadDashboardPage,
      // As plain text, which browsers show instead of saving it.
      loadSkill: () => new Document("text/plain", skillPage(), "default-src 'none'"),
    }),
  );
  return {
    request(incoming, outgoing) {
      // Handles errors before a pipeline starts. The pipelines respond to their own errors.
      try {
        // Checks a target that is not a path, such as a whole URL, here: Express's router would look for a path in it.
        if (!incoming.url?.startsWith("/")) guard.check(incoming);
        if (cors?.isPreflight(incoming) && guard.allows(incoming)) {
          // The response repeats names that the page sent, so a live key is rejected first.
          refuseLiveKeyIn(incoming);
          cors.grantPreflight(incoming, outgoing);
        } else if (isApiPath(incoming.url)) pipeline()(incoming, outgoing);
        else control()(incoming, outgoing);
      } catch (error) {
        sendFailure(openContext(incoming, outgoing, clock.now()), error, report);
      }
    },
    connected: recorder.connected,
    upgrade: createUpgradeHandler({
      path: `${CONTROL_PREFIX}/live`,
      guard,
      requireToken,
      accept: hub.acceptUpgrade,
      report: (error) => reportDefect(listeners, error, "live stream"),
    }),
  };
}

type Report = (error: unknown, request: { id: string }) => void;

/** The pipeline of the service under /v1, and the recorder of its requests. */
function openService(engine: Engine, guard: Guard, report: Report) {
  const { options, assumed, operations, clock, random, stores } = engine;
  const { faults, heldResponses, limiter, listeners, dispatcher, spans } = engine;
  const onRecorded = (entry: RequestEntry) => notifyEach(listeners.request, entry, (error) => report(error, entry));
  const recorder = createRequestRecorder({
    ...stores,
    clock,
    random,
    startsTraces: spans !== undefined,
    onRecorded,
    report,
  });
  const pipeline = once(() =>
    createPipeline({
      ...stores,
      catalogue: operations,
      assumed,
      clock,
      guard,
      limiter,
      bodies: options.bodies,
      isolation: options.isolation,
      faults: faultStages({ ...stores, clock, faults: faults.api, held: heldResponses }),
      report,
      committed: dispatcher.afterCommit,
      recorder,
    }),
  );
  return { recorder, pipeline };
}

/** The dashboard for a browser: its files, as the build made them, in one page. */
function loadDashboardPage() {
  if (!existsSync(packageFile("dist/browser/page.html")))
    usageError("The page of the dashboard has not been built: run npm run build.");
  const [html = "", style = "", script = ""] = ["page.html", "page.css", "main.js"].map((name) =>
    readFileSync(packageFile(`dist/browser/${name}`), "utf8"),
  );
  return inlinePage({ html, style, script, reportStyle });
}
