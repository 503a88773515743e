// Runs the operation: handler, stored reply and queued events share one transaction. The response is sent after the
// commit.

import { ApiError, type ErrorCode } from "../kernel/errors.ts";
import { mask } from "../kernel/mask.ts";
import { PreserializedJson } from "../kernel/reply-bodies.ts";
import { traceparentOf } from "../kernel/trace-context.ts";
import { factOf } from "../schema/assumed.ts";
import { fieldErrors, matchesSchema } from "../schema/validator.ts";
import type { Operation } from "../store/operation-context.ts";
import type { Stores } from "../store/stores.ts";
import { contextOf, type Reply, type RequestContext, type Stage } from "./context.ts";
import { isStoredError, replay } from "./idempotency.ts";
import { errorReply } from "./reply.ts";

/** Runs an operation and sets the reply. */
export type Effect = (context: RequestContext) => void | Promise<void>;

/** The stage that runs the operation. */
export const operate =
  (effect: Effect): Stage =>
  (request, _response, next) => {
    const waiting = effect(contextOf(request));
    return waiting === undefined ? next() : waiting.then(() => next());
  };

interface TransactionDependencies extends Pick<Stores, "database" | "idempotencyReplies" | "createOperationContext"> {
  /**
   * Called after each commit, because the request may have queued events. The response waits for the returned promise.
   */
  committed: (request: string) => Promise<void> | undefined;
}

export function transact({
  database,
  idempotencyReplies,
  createOperationContext,
  committed,
}: TransactionDependencies): Effect {
  const handle = (context: RequestContext) => runOperation(context, createOperationContext);
  return (context) => {
    if (context.operation?.method === "GET") {
      context.reply = handle(context);
      return;
    }
    return commit(context);
  };

  async function commit(context: RequestContext): Promise<void> {
    context.reply = await database.groupCommit(() => handleOnce(context));
    const waiting = committed(context.id);
    if (waiting !== undefined) await waiting;
  }

  /** Returns the reply stored for the request's key. If there is none, runs the handler and stores its reply. */
  function handleOnce(context: RequestContext): Reply {
    const { idempotencyKey: key, fingerprint = "" } = context;
    if (key === undefined) return handle(context);
    const merchant = context.identity?.merchant ?? "";
    // Looks the key up again: two calls with the same key may wait for the same commit, and only the first may run.
    const stored = idempotencyReplies.find(merchant, key);
    if (stored) {
      replay(context, stored);
      return context.reply as Reply;
    }
    const reply = replyOrStoredError(context, () => database.transaction(() => handle(context)));
    idempotencyReplies.remember(
      merchant,
      key,
      { fingerprint, request: context.id, ...reply },
      context.operation?.replayWindow,
    );
    return reply;
  }
}

/**
 * Turns an error into a reply if its code is one that an Idempotency-Key stores, such as a 404 or 409. The attempt's
 * effects are rolled back.
 */
function replyOrStoredError(context: RequestContext, attempt: () => Reply): Reply {
  try {
    return attempt();
  } catch (error) {
    if (!(error instanceof ApiError) || !isStoredError(error.code)) throw error;
    return errorReply(context, error);
  }
}

function runOperation(context: RequestContext, createOperationContext: Stores["createOperationContext"]): Reply {
  const operation = context.operation as Operation;
  const emitted = (type: string) => {
    if (!operation.emits.some((declared) => factOf(declared) === type) && operation.mayEmit[type] === undefined)
      throw new Error(`${operation.id} emitted ${type}, which its declaration does not list`);
  };
  const warnings: string[] = [];
  const warned = (text: string) => {
    if (!warnings.includes(text)) warnings.push(text);
  };
  const { identity, at, id, span } = context;
  const operationContext = createOperationContext(
    identity?.merchant ?? "",
    Math.floor(at / 1000),
    id,
    { emitted, warned, trace: span && traceparentOf(span.own) },
    context,
  );
  const result = callHandler(operation, operationContext);
  Object.assign(context.headers, operation.headers);
  // A rejected call throws before this line, so it gets no warnings: it has stored nothing.
  if (warnings.length > 0) context.headers["X-Sandbox-Warning"] = headerText(warnings.join(" "));
  const status = factOf(operation.status);
  if (status === 204 || status === 205) return { status, body: "" };
  return {
    status,
    body: operationContext.jsonOf(result, operation.reply) ?? serialize(operation, result),
  };
}

/** Longer than any warning that quotes a reasonable value. */
const LONGEST_WARNING = 1_000;

/** A header may contain only printable ASCII, but a warning may quote any value of the request. */
const headerText = (text: string) => mask(text, LONGEST_WARNING).replace(/[^ -~]/g, "?");

function serialize({ id, reply }: Operation, result: unknown): string {
  if (result instanceof PreserializedJson) return result.text;
  if (matchesSchema(reply, result)) return JSON.stringify(result);
  throw new Error(`The response of ${id} does not match its schema: ${JSON.stringify(fieldErrors(reply, result))}`);
}

function callHandler(operation: Operation, input: Parameters<Operation["handle"]>[0]): unknown {
  try {
    return operation.handle(input);
  } catch (error) {
    // Rules on records may reject any body.
    const isDeclared = (code: ErrorCode) =>
      operation.errors.includes(code) ||
      (code === "validation_failed" && operation.body !== undefined) ||
      // Any operation may emit an event, and too many deliveries may be pending.
      code === "sandbox_unavailable";
    if (error instanceof ApiError && !isDeclared(error.code))
      throw new Error(`${operation.id} failed with ${error.code}, which its declaration does not list`, {
        cause: error,
      });
    throw error;
  }
}
