// What the server does with a connection: the request pipeline answers /v1, Express everything else, and the hub the live stream.

import { catalogue } from "../areas/index.ts";
import { CONTROL_PREFIX } from "../contracts/paths.ts";
import type { ControlContext } from "../control/control-context.ts";
import { controlCatalogue } from "../control/index.ts";
import type { RequestContext } from "../http/context.ts";
import { requireControlToken } from "../http/control-token.ts";
import { createGuard } from "../http/guard.ts";
import { createPipeline } from "../http/pipeline.ts";
import { createRequestRecorder } from "../http/request-recorder.ts";
import { isApiPath } from "../http/route.ts";
import type { ServerHandlers } from "../http/server.ts";
import { createUpgradeHandler } from "../http/upgrade.ts";
import { notify } from "../kernel/listeners.ts";
import { once } from "../kernel/once.ts";
import type { Engine } from "./engine.ts";
import { ownHost } from "./options.ts";

export function openSockets(engine: Engine, controlPlane: () => ControlContext): ServerHandlers {
  const { options, address, clock, stores, faults, heldResponses, limiter, hub, listeners, dispatcher } = engine;
  const { bodies, allowedHost, allowedOrigin } = options;
  const report = (error: unknown, { id }: RequestContext) => notify(listeners.defect, { error, where: id });
  const guard = createGuard(() => address.port, [...allowedHost, ownHost(options)], allowedOrigin);
  const checkToken = requireControlToken(options.controlToken);
  const recorder = createRequestRecorder(stores.requestLog, clock, (entry) => notify(listeners.request, entry));
  const service = once(() =>
    createPipeline({
      ...stores,
      catalogue,
      clock,
      guard,
      limiter,
      bodies,
      faults: faults.api,
      held: heldResponses,
      report,
      committed: dispatcher.afterCommit,
      answered: recorder.close,
    }),
  );
  // Express is loaded at the first request that needs it: a sandbox that only serves /v1 starts faster without.
  const control = once(async () => {
    const { createControlApp } = await import("../http/control-app.ts");
    return createControlApp({ guard, clock, control: controlCatalogue, world: controlPlane(), checkToken, report });
  });
  return {
    request(incoming, outgoing) {
      if (isApiPath(incoming.url)) void service()(recorder.open(incoming, outgoing));
      else void control().then((handle) => handle(incoming, outgoing));
    },
    connected: recorder.connected,
    upgrade: createUpgradeHandler(`${CONTROL_PREFIX}/live`, guard, checkToken, hub.acceptUpgrade),
  };
}
