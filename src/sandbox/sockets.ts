// What stands at the sockets: the pipe for the service, Express for everything else, the hub for those who watch.

import { catalogue } from "../areas/index.ts";
import { CONTROL_PREFIX } from "../contracts/paths.ts";
import type { ControlContext } from "../control/control-context.ts";
import { controlCatalogue } from "../control/index.ts";
import type { RequestContext } from "../http/context.ts";
import { requireControlToken } from "../http/control-token.ts";
import { createGuard } from "../http/guard.ts";
import { createPipeline } from "../http/pipeline.ts";
import { createRequestRecorder, requestMessage } from "../http/request-recorder.ts";
import { isApiPath } from "../http/route.ts";
import type { ServerHandlers } from "../http/server.ts";
import { createUpgradeHandler } from "../http/upgrade.ts";
import { notify } from "../kernel/listeners.ts";
import { once } from "../kernel/once.ts";
import type { Machine } from "./engine.ts";
import { ownName } from "./option-checks.ts";

export function openFront(machine: Machine, controlContext: () => ControlContext, port: () => number): ServerHandlers {
  const { options, token, clock, stores, faults, held, limiter, hub, heard, dispatcher } = machine;
  const { bodies, allowedHost, allowedOrigin } = options;
  const report = (error: unknown, { id }: RequestContext) => notify(heard.defects, { error, where: id });
  const guard = createGuard(port, [...allowedHost, ownName(options)], allowedOrigin);
  const checkToken = requireControlToken(token);
  const recorder = createRequestRecorder(stores.requestLog, clock, (entry) => {
    hub.say({ kind: "request", request: requestMessage(entry) });
    notify(heard.requests, entry);
  });
  const needs = { ...stores, faults: faults.api, held, guard, catalogue, clock, limiter, bodies, report };
  const answer = once(() => createPipeline({ ...needs, committed: dispatcher.committed, answered: recorder.close }));
  // Express is loaded when somebody first asks for what it carries: a start that only serves /v1 does without.
  const app = once(async () =>
    (await import("../http/app.ts")).createApp({ guard, clock, control: controlCatalogue, world: controlContext(), checkToken, report }),
  );
  return {
    request(incoming, outgoing) {
      if (isApiPath(incoming.url)) void answer()(recorder.open(incoming, outgoing));
      else void app().then((handle) => handle(incoming, outgoing));
    },
    connected: recorder.connected,
    upgrade: createUpgradeHandler(`${CONTROL_PREFIX}/live`, guard, checkToken, hub.accept),
  };
}
