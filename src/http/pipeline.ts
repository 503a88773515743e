// The request pipeline under /v1: the stages of a request, in the order in which they run.

import type { ApiFaults } from "../faults/index.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Operation } from "../store/operation-context.ts";
import type { Stores } from "../store/stores.ts";
import { authenticate, identify } from "./authenticate.ts";
import { isAbandoned, type Reply, type RequestContext, type Stage } from "./context.ts";
import { refusePages } from "./cors.ts";
import { type FaultStages, faultStages } from "./faults/apply-fault.ts";
import type { HeldResponses } from "./faults/send-with-faults.ts";
import { admit, type Guard } from "./guard.ts";
import { readIdempotencyKey, recall } from "./idempotency.ts";
import { chargeAddress, limit, type RateLimiter } from "./rate-limit.ts";
import { readBody, yieldIfLong } from "./read-body.ts";
import { failureReply, sendFailure } from "./reply.ts";
import { route } from "./route.ts";
import { transact } from "./transact.ts";
import { type BodyMode, validate } from "./validate.ts";

export interface PipelineDependencies
  extends Pick<Stores, "database" | "tenants" | "idempotencyReplies" | "createOperationContext" | "recordHistory"> {
  guard: Guard;
  catalogue: readonly Operation[];
  clock: Clock;
  limiter: RateLimiter;
  bodies: BodyMode;
  faults: ApiFaults;
  /** Responses that a fault delays or holds back. */
  held: HeldResponses;
  committed: (request: string) => Promise<void> | undefined;
  /** Called with each request that the guard admitted, after its response is sent. Must not throw. */
  answered: (context: RequestContext) => void;
  /** Called with errors that are defects of the sandbox. */
  report: (error: unknown, context: RequestContext) => void;
}

/** Runs the stages until one responds, then sends the reply. */
export function createPipeline(deps: PipelineDependencies): (context: RequestContext) => Promise<void> {
  const { guard, catalogue, clock, tenants, limiter, idempotencyReplies, bodies } = deps;
  const faults = faultStages(deps);
  const stages: Stage[] = [
    admit(guard), //                                     403 414 417
    identify(tenants, limiter), //                       rejects nothing: finds the merchant and its rate limit window
    faults.outage, //                                    503 injected, with or without a valid key
    route(catalogue), //                                 404 405
    faults.auth, //                                      401 injected
    authenticate(chargeAddress(limiter, clock)), //      401 403, or 429 for the client's address
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
    faults.around(transact(deps)), //                    404 409, or the operation's reply
  ];
  return async (context) => {
    try {
      for (const stage of stages) {
        const waiting = stage(context);
        if (waiting !== undefined) await waiting;
        if (context.reply) break;
      }
    } catch (error) {
      if (isAbandoned(context)) return;
      context.reply = failureReply(context, error, deps.report);
    }
    context.reply ??= failureReply(context, new Error("no stage responded"), deps.report);
    endStage(context);
    const sending = sendReply(faults, context, context.reply, deps.report);
    if (sending !== undefined) await sending;
    if (context.isAdmitted) deps.answered(context);
  };
}

/** Records when the checks, the body, the validation or the operation ended. */
function endStage(context: RequestContext): void {
  context.stages.push(context.elapsed());
}

/**
 * Sends the reply, or a 500 if that fails. The pipeline is not awaited, so an error thrown from it would end the
 * process.
 */
function sendReply(
  faults: FaultStages,
  context: RequestContext,
  reply: Reply,
  report: PipelineDependencies["report"],
): Promise<void> | undefined {
  const failed = (error: unknown) => sendFailure(context, error, report);
  try {
    const sending = faults.send(context, reply);
    return sending === undefined ? undefined : sending.catch(failed);
  } catch (error) {
    failed(error);
  }
  return undefined;
}
