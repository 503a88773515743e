// Runs an operation of the control API, over HTTP or in process: who calls, whether the caller may, its input and its reply.
// The host may make each call, and needs the control token if there is one; a learner makes those that are declared for learners.

import type { IncomingMessage } from "node:http";
import { type Access, Document, type Endpoint } from "../contracts/endpoint.ts";
import { CONTROL_PREFIX } from "../contracts/paths.ts";
import { fail } from "../kernel/errors.ts";
import { isSameToken } from "../kernel/random.ts";
import { fieldErrors, matchesSchema } from "../schema/validator.ts";
import { type RequestInput, readInput } from "./validate.ts";

/**
 * The host of the sandbox, or the learner whose API key was sent. Without a control token everyone may do what the host may: a key then only
 * limits the operations that learners share, so that a lesson's program can send its key with every call.
 */
export type ControlCaller = "host" | { learner: string; mayDoAll: boolean };

/** The subprotocol by which a browser sends the token: its WebSocket cannot set a header. The token is in base64url, because a subprotocol has few characters. */
const BEARER_PROTOCOL = /(?:^|,)\s*bearer\.([\w-]+)\s*(?:,|$)/;

function sentToken({ headers }: IncomingMessage): string {
  const [, encoded] = BEARER_PROTOCOL.exec(headers["sec-websocket-protocol"] ?? "") ?? [];
  return encoded === undefined ? (headers.authorization ?? "") : `Bearer ${Buffer.from(encoded, "base64url")}`;
}

/** A call without the token is one of the host too if no token is configured, as on loopback. `learnerOf` finds the learner with an API key. */
export const identifyCaller =
  (token: string | undefined, learnerOf: (key: string) => string | undefined) =>
  (incoming: IncomingMessage): ControlCaller => {
    const sent = sentToken(incoming);
    if (token !== undefined && isSameToken(sent, `Bearer ${token}`)) return "host";
    const [, key] = /^Bearer (sk_test_\w+)$/.exec(sent) ?? [];
    const learner = key === undefined ? undefined : learnerOf(key);
    if (learner !== undefined) return { learner, mayDoAll: token === undefined };
    if (token === undefined) return "host";
    return fail(
      "control_token_required",
      "This sandbox is open to the network: send its control token as `Authorization: Bearer …`. The control API takes no sk_test_ key but that of a learner.",
    );
  };

/** Throws 403 for a learner, unless the operation is declared for learners. `what` names it. */
export function requireAccess(caller: ControlCaller, what: string, access?: Access<never>): void {
  if (caller === "host" || caller.mayDoAll || access !== undefined) return;
  fail(
    "control_token_required",
    `${what} is for the host: a learner's key opens the learner's own lessons, requests, deliveries and verdicts.`,
  );
}

/** Limits a valid call to the merchant of the learner who makes it, in place. Throws if it names another one. */
function limitToCaller<World>(
  { id, access, query }: Endpoint<World>,
  caller: ControlCaller,
  call: { params: Record<string, string>; query: Record<string, unknown> } & World,
): void {
  if (caller === "host" || access === undefined || access === "room") return;
  const { learner } = caller;
  const limit = access.learner;
  if (limit === "anyone") return;
  if ("query" in limit) {
    if (!Object.hasOwn(query.properties, limit.query)) throw new Error(`${id} has no ${limit.query} in its query`);
    call.query[limit.query] = ownMerchant(learner, call.query[limit.query] ?? learner);
  } else if ("param" in limit) ownMerchant(learner, call.params[limit.param]);
  else if (limit.ownerOf(call) !== learner)
    fail("resource_not_found", `${CONTROL_PREFIX} has nothing of your merchant by the id ${Object.values(call.params).join(", ")}.`);
}

function ownMerchant(learner: string, named: unknown): string {
  if (named === learner) return learner;
  return fail("control_token_required", `A learner's key reaches the learner's merchant, ${learner}; received ${JSON.stringify(named)}.`);
}

/** Validates the input against the declaration, limits it to what the caller may reach, and returns the handler's result. */
export async function runControlOperation<World>(
  endpoint: Endpoint<World>,
  world: World,
  params: Record<string, string>,
  received: RequestInput,
  caller: ControlCaller = "host",
): Promise<unknown> {
  requireAccess(caller, endpoint.id, endpoint.access);
  readInput(endpoint, received, "strict");
  const { query, body, extra } = received;
  const call = { ...world, params, query, body, extra };
  limitToCaller(endpoint, caller, call);
  return endpoint.handle(call);
}

/** The reply as JSON, or the requested document. Throws if the operation does not declare it. */
export function serializeReply<World>({ id, reply: shape, documents }: Endpoint<World>, reply: unknown): string | Document {
  if (reply instanceof Document) {
    if (Object.values(documents).includes(reply.contentType)) return reply;
    throw new Error(`${id} returned ${reply.contentType}, which its declaration does not list`);
  }
  if (matchesSchema(shape, reply)) return JSON.stringify(reply);
  throw new Error(`The response of ${id} does not match its schema: ${JSON.stringify(fieldErrors(shape, reply))}`);
}
