// Who makes a call of the control API, and which calls a learner may make: the host may make each, and needs the control token if there is one.

import type { IncomingMessage } from "node:http";
import type { Access, Endpoint } from "../contracts/endpoint.ts";
import { CONTROL_PREFIX } from "../contracts/paths.ts";
import { fail } from "../kernel/errors.ts";
import { isSameToken } from "../kernel/random.ts";

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
export function limitToCaller<World>(
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
