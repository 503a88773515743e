// The way of a request under /v1, from the first look at it to its answer. The list is the order; there is no other.

import type { ApiFaults } from "../contracts/fault.ts";
import type { Clock } from "../kernel/clock.ts";
import type { CreateOperationContext, Operation } from "../store/operation-context.ts";
import type { IdempotencyReplies } from "../store/records/idempotency-replies.ts";
import type { RecordHistory } from "../store/records/record-history.ts";
import type { Tenants } from "../store/records/tenants.ts";
import type { Database } from "../store/sqlite/database.ts";
import { authenticate, identify } from "./authenticate.ts";
import { isAbandoned, type RequestContext, type Stage } from "./context.ts";
import { type FaultStages, faultStages } from "./faults/apply-fault.ts";
import type { HeldResponses } from "./faults/held-responses.ts";
import type { Guard } from "./guard.ts";
import { readIdempotencyKey, recall } from "./idempotency.ts";
import { chargeAddress, limit, type RateLimiter } from "./rate-limit.ts";
import { readBody } from "./read-body.ts";
import { failureReply } from "./reply.ts";
import { route } from "./route.ts";
import { transact } from "./transact.ts";
import { type BodyMode, validate } from "./validate.ts";

export interface PipelineDependencies {
  guard: Guard;
  catalogue: readonly Operation[];
  clock: Clock;
  database: Database;
  tenants: Tenants;
  idempotencyReplies: IdempotencyReplies;
  createOperationContext: CreateOperationContext;
  limiter: RateLimiter;
  bodies: BodyMode;
  faults: ApiFaults;
  recordHistory: RecordHistory;
  /** Whatever waits because a fault wants it to. */
  held: HeldResponses;
  committed: (request: string) => Promise<void> | undefined;
  /** Hears of each request once it is answered. */
  answered: (context: RequestContext) => void;
  /** Hears of our own defects. */
  report: (error: unknown, context: RequestContext) => void;
}

export function pipelineStages(machine: PipelineDependencies, faulty: FaultStages): Stage[] {
  const { guard, catalogue, tenants, limiter, idempotencyReplies, bodies } = machine;
  return [
    ({ incoming }) => guard.check(incoming), //           403
    identify(tenants, limiter), //                       refuses nothing: whose window the headers tell of
    faulty.outage, //                                     503 injected, for everybody
    route(catalogue), //                                  404 405
    faulty.auth, //                                       401 injected
    authenticate(chargeAddress(limiter)), //              401 403, 429 for the address
    faulty.limit, //                                      429 injected
    limit(limiter), //                                    429
    readBody, //                                          415 413 400
    readIdempotencyKey, //                                400
    faulty.recall, //                                     409 injected
    recall(idempotencyReplies), //                                   422, or the remembered answer
    faulty.before, //                                     any status injected, or no answer
    validate(bodies), //                                  400
    faulty.around(transact(machine)), //                  404 409, or the answer
  ];
}

/** Runs a context through the stages and sends what comes of it. */
export function createPipeline(machine: PipelineDependencies): (context: RequestContext) => Promise<void> {
  const faulty = faultStages(machine);
  const list = pipelineStages(machine, faulty);
  return async (context) => {
    try {
      for (const stage of list) {
        const waiting = stage(context);
        if (waiting !== undefined) await waiting;
        if (context.reply) break;
      }
    } catch (error) {
      if (isAbandoned(context)) return;
      context.reply = failureReply(context, error, machine.report);
    }
    if (!context.reply) context.reply = failureReply(context, new Error("no stage answered"), machine.report);
    const sending = faulty.send(context, context.reply);
    if (sending !== undefined) await sending;
    machine.answered(context);
  };
}
