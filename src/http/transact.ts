// The effect: handler, remembered answer and outgoing events in one transaction; the answer only after its commit.

import { PreserializedJson } from "../contracts/preserialized-json.ts";
import { ApiError } from "../kernel/errors.ts";
import { factOf } from "../schema/assumed.ts";
import { fieldErrors, matchesSchema } from "../schema/validator.ts";
import type { CreateOperationContext, Operation } from "../store/operation-context.ts";
import type { IdempotencyReplies } from "../store/records/idempotency-replies.ts";
import type { Database } from "../store/sqlite/database.ts";
import type { Reply, RequestContext, Stage } from "./context.ts";
import { isRemembered, replay } from "./idempotency.ts";
import { errorReply } from "./reply.ts";

interface Needs {
  database: Database;
  idempotencyReplies: IdempotencyReplies;
  createOperationContext: CreateOperationContext;
  /** Told after a commit that events of a request may be waiting; what it answers is waited for before the request is answered. */
  committed: (request: string) => Promise<void> | undefined;
}

export function transact({ database, idempotencyReplies, createOperationContext, committed }: Needs): Stage {
  const handle = (context: RequestContext) => run(context, createOperationContext);
  return (context) => {
    if (context.operation?.method === "GET") {
      context.reply = handle(context);
      return;
    }
    return commit(context);
  };

  async function commit(context: RequestContext): Promise<void> {
    context.reply = await database.groupCommit(() => once(context));
    const waiting = committed(context.id);
    if (waiting !== undefined) await waiting;
  }

  /** What this key was answered before, or what the handler answers now. */
  function once(context: RequestContext): Reply {
    const { idempotencyKey: key, fingerprint = "" } = context;
    if (key === undefined) return handle(context);
    const merchant = context.identity?.merchant ?? "";
    // Asked again here: two calls with one key may have waited for the same commit, and only the first may act.
    const remembered = idempotencyReplies.find(merchant, key);
    if (remembered) {
      replay(context, remembered);
      return context.reply as Reply;
    }
    const made = orRemembered(context, () => database.transaction(() => handle(context)));
    idempotencyReplies.remember(merchant, key, { fingerprint, request: context.id, ...made });
    return made;
  }
}

/** A 404 or 409 is an answer like any other: its own effects are undone, and it is remembered. */
function orRemembered(context: RequestContext, attempt: () => Reply): Reply {
  try {
    return attempt();
  } catch (error) {
    if (!(error instanceof ApiError) || !isRemembered(error.code)) throw error;
    return errorReply(context, error);
  }
}

function run(context: RequestContext, callers: CreateOperationContext): Reply {
  const operation = context.operation as Operation;
  const emitted = (type: string) => {
    if (!operation.emits.some((declared) => factOf(declared) === type))
      throw new Error(`${operation.id} emitted ${type}, which it does not declare`);
  };
  const warned = (text: string) => {
    context.headers["X-Sandbox-Warning"] = text;
  };
  const caller = callers(context.identity?.merchant ?? "", Math.floor(context.at / 1000), context.id, { emitted, warned }, context);
  const answer = call(operation, caller);
  Object.assign(context.headers, operation.headers);
  return { status: factOf(operation.status), body: answer instanceof PreserializedJson ? answer.text : write(operation, answer) };
}

function write({ id, reply }: Operation, answer: unknown): string {
  if (matchesSchema(reply, answer)) return JSON.stringify(answer);
  throw new Error(`${id} answered what it does not declare: ${JSON.stringify(fieldErrors(reply, answer))}`);
}

function call(operation: Operation, input: Parameters<Operation["handle"]>[0]): unknown {
  try {
    return operation.handle(input);
  } catch (error) {
    if (error instanceof ApiError && !operation.errors.includes(error.code))
      throw new Error(`${operation.id} failed with ${error.code}, which it does not declare`, { cause: error });
    throw error;
  }
}
