// Runs an operation of the control API, over HTTP or in process: identifies the caller, checks its access and input,
// and checks the reply. The host may call every operation, and needs the control token if there is one. A learner may
// call operations declared for learners.

import type { IncomingMessage } from "node:http";
import type { Access, ControlCaller, Endpoint } from "../contracts/endpoint.ts";
import { CONTROL_PREFIX } from "../contracts/paths.ts";
import { fail } from "../kernel/errors.ts";
import { isSameToken } from "../kernel/random.ts";
import { Document } from "../kernel/reply-bodies.ts";
import { fieldErrors, matchesSchema } from "../schema/validator.ts";
import { type RequestInput, readInput } from "./validate.ts";

/**
 * Browsers send the token as a subprotocol, because their WebSocket API cannot set headers. Base64url fits the
 * characters of a subprotocol.
 */
const BEARER_PROTOCOL = /(?:^|,)\s*bearer\.([\w-]+)\s*(?:,|$)/;

function sentToken({ headers }: IncomingMessage): string {
  const [, encoded] = BEARER_PROTOCOL.exec(headers["sec-websocket-protocol"] ?? "") ?? [];
  return encoded === undefined ? (headers.authorization ?? "") : `Bearer ${Buffer.from(encoded, "base64url")}`;
}

/**
 * Without a configured token, as on loopback, calls without a key are the host's. `learnerOf` finds the learner with an
 * API key.
 */
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

/**
 * Throws 403 for a learner, unless the operation is declared for learners. `what` names the operation in the message.
 */
export function requireAccess(caller: ControlCaller, what: string, access?: Access<never>): void {
  if (caller === "host" || caller.mayDoAll || access !== undefined) return;
  fail(
    "control_token_required",
    `${what} is for the host: a learner's key opens the learner's own lessons, requests, deliveries and verdicts.`,
  );
}

/** Limits a learner's call to the learner's merchant, in place. Throws if the call names another merchant. */
function limitToCaller<World>(
  { id, access, query }: Endpoint<World>,
  caller: ControlCaller,
  call: { params: Record<string, string>; query: Record<string, unknown> } & World,
): void {
  if (access !== undefined && "requireRoom" in access) {
    access.requireRoom(call);
    return;
  }
  if (caller === "host" || access === undefined) return;
  const { learner } = caller;
  const limit = access.learner;
  if (limit === "anyone") return;
  if ("query" in limit) {
    if (!Object.hasOwn(query.properties, limit.query)) throw new Error(`${id} has no ${limit.query} in its query`);
    call.query[limit.query] = ownMerchant(learner, call.query[limit.query] ?? learner);
  } else if ("param" in limit) ownMerchant(learner, call.params[limit.param]);
  else if (limit.ownerOf(call) !== learner)
    fail(
      "resource_not_found",
      `${CONTROL_PREFIX} has nothing of your merchant by the id ${Object.values(call.params).join(", ")}.`,
    );
}

function ownMerchant(learner: string, named: unknown): string {
  if (named === learner) return learner;
  return fail(
    "control_token_required",
    `A learner's key reaches the learner's merchant, ${learner}; received ${JSON.stringify(named)}.`,
  );
}

/** Checks the caller's access, validates the input against the declaration, and returns the handler's result. */
export async function runControlOperation<World>(
  endpoint: Endpoint<World>,
  world: World,
  params: Record<string, string>,
  received: RequestInput,
  caller: ControlCaller = "host",
  gone?: AbortSignal,
): Promise<unknown> {
  requireAccess(caller, endpoint.id, endpoint.access);
  readInput(endpoint, received, "strict");
  const { query, body, extra } = received;
  const call = { ...world, params, query, body, extra, gone };
  limitToCaller(endpoint, caller, call);
  return endpoint.handle(call);
}

/** The reply as JSON, or the requested document. Throws if the reply does not match the declaration. */
export function serializeReply<World>(
  { id, reply: shape, documents }: Endpoint<World>,
  reply: unknown,
): string | Document {
  if (reply instanceof Document) {
    if (Object.values(documents).includes(reply.contentType)) return reply;
    throw new Error(`${id} returned ${reply.contentType}, which its declaration does not list`);
  }
  if (matchesSchema(shape, reply)) return JSON.stringify(reply);
  throw new Error(`The response of ${id} does not match its schema: ${JSON.stringify(fieldErrors(shape, reply))}`);
}
