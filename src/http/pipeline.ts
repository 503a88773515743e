// The request pipeline under /v1: the stages of a request, in the order in which they run.

import type { IncomingMessage, ServerResponse } from "node:http";
import { API_PREFIX } from "../contracts/paths.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Assumptions } from "../store/assumptions.ts";
import type { Operation } from "../store/operation-context.ts";
import type { Stores } from "../store/stores.ts";
import { authenticate, identify } from "./authenticate.ts";
import { contextOf, isAbandoned, type Reply, type RequestContext, type Stage, setContext } from "./context.ts";
import { refusePages } from "./cors.ts";
import { admit, type Guard } from "./guard.ts";
import { readIdempotencyKey, recall } from "./idempotency.ts";
import type { Isolation } from "./isolation.ts";
import { chargeAddress, limit, type RateLimiter } from "./rate-limit.ts";
import { readBody, yieldIfLong } from "./read-body.ts";
import { failureReply, sendOrFail } from "./reply.ts";
import type { RequestRecorder } from "./request-recorder.ts";
import { addRoutes, closeRouter, inTurn, openRouter, pathsOf, refusePath, requireLiteralPath } from "./route.ts";
import { type Effect, operate, transact } from "./transact.ts";
import { type BodyMode, validate } from "./validate.ts";

/** The points of the pipeline at which faults act. `faults/` implements them. */
export interface FaultStages {
  readonly outage: Stage;
  readonly auth: Stage;
  readonly limit: Stage;
  readonly recall: Stage;
  readonly before: Stage;
  /** Wraps the stage that runs the operation, so that a rule can make it read old data. */
  around(effect: Effect): Effect;
  /** Sends the reply, or loses, delays or corrupts it. */
  send(context: RequestContext, reply: Reply): void | Promise<void>;
}

export interface PipelineDependencies
  extends Pick<Stores, "database" | "tenants" | "idempotencyReplies" | "createOperationContext"> {
  guard: Guard;
  catalogue: readonly Operation[];
  assumed: Assumptions;
  clock: Clock;
  limiter: RateLimiter;
  bodies: BodyMode;
  isolation: Isolation;
  faults: FaultStages;
  committed: (request: string) => Promise<void> | undefined;
  recorder: RequestRecorder;
  /** Called with errors that are defects of the sandbox. */
  report: (error: unknown, context: RequestContext) => void;
}

/**
 * Creates an Express router with the stages of /v1. Each request passes two layers: the stages before routing, and the
 * stages of its route.
 */
export function createPipeline(
  deps: PipelineDependencies,
): (request: IncomingMessage, response: ServerResponse) => void {
  const { guard, catalogue, clock, tenants, limiter, isolation, idempotencyReplies, bodies, recorder, faults } = deps;
  const paths = pathsOf(API_PREFIX, catalogue);
  const refuse = ({ path }: RequestContext) => refusePath(path, paths);
  const findCaller = identify(tenants, limiter, isolation);
  const beforeRoute = inTurn(
    admit(guard, (context) => {
      findCaller(context); //                            rejects nothing: finds the merchant and its rate limit window
      recorder.admitted(context); //                     rejects nothing: numbers the request
    }), //                                               403 414 417
    faults.outage, //                                    503 injected, with or without a valid key
    requireLiteralPath(refuse), //                       404
  );
  // Here the router finds the operation by its path:    404 405
  const ofRoute = inTurn(
    faults.auth, //                                      401 injected
    authenticate(tenants, isolation, chargeAddress(limiter, clock)), // 401 403, or 429 for the client's address
    refusePages, //                                      403
    faults.limit, //                                     429 injected
    limit(limiter, clock), //                            429
    endStage, //                                         ends the checks
    readBody, //                                         415 413 400
    yieldIfLong, //                                      rejects nothing: other requests take their turn
    endStage, //                                         ends the body
    readIdempotencyKey, //                               400
    faults.recall, //                                    409 injected
    recall(idempotencyReplies), //                       422, or the stored reply
    yieldIfLong,
    faults.before, //                                    any status injected, or no response
    validate(bodies), //                                 400
    yieldIfLong,
    endStage, //                                         ends the validation
    operate(faults.around(transact(deps))), //           404 409, or the operation's reply
    respond, //                                          sends the reply
  );
  const router = openRouter();
  router.use(beforeRoute);
  addRoutes(router, API_PREFIX, catalogue, (operation) => (request, response, next) => {
    contextOf(request).operation = operation;
    return ofRoute(request, response, next);
  });
  const ending = createEnding(deps);
  const route = closeRouter(router, { refuse, failed: ending.failed });
  return (request, response) => {
    const context = recorder.open(request, response, ending.finish);
    context.assumed = deps.assumed;
    setContext(request, context);
    route(request, response);
  };
}

/** Records when the checks, the body, the validation or the operation ended. */
const endStage: Stage = (request, _response, next) => {
  markEnd(contextOf(request));
  next();
};

function markEnd(context: RequestContext): void {
  context.stages.push(context.elapsed());
}

const respond: Stage = (request) => {
  const context = contextOf(request);
  context.finish(context);
};

/** Ends a request, with the reply that a stage has set or with an error reply. */
function createEnding({ faults, recorder, report }: PipelineDependencies) {
  const finish = (context: RequestContext): void => {
    context.reply ??= failureReply(context, new Error("no stage responded"), report);
    markEnd(context);
    const close = () => {
      if (context.isAdmitted) recorder.close(context);
    };
    const { reply } = context;
    const sending = sendOrFail(context, () => faults.send(context, reply), report);
    if (sending === undefined) close();
    else void sending.then(close);
  };
  const failed = (context: RequestContext, error: unknown): void => {
    if (isAbandoned(context)) return;
    context.reply = failureReply(context, error, report);
    finish(context);
  };
  return { finish, failed };
}
