// A learner's view of the sandbox: the requests, delivery attempts and verdicts of their own merchant, found by their API key.

import { fail } from "../kernel/errors.ts";
import { Type } from "../schema/shapes.ts";
import { ClockState, clockState } from "./clock.ts";
import { type ControlContext, type ControlOperation, endpoint } from "./control-context.ts";
import { Merchant } from "./merchants.ts";
import { listRequests, noSuchRequest, showRequest } from "./requests.ts";
import { listVerdicts } from "./verdicts.ts";
import { listAttempts, noSuchAttempt, showAttempt } from "./webhooks.ts";
import { findLearner } from "./workshop.ts";

const LEARNER_PATH = "/room/{room}/learners/{key}";

interface LearnerCall extends ControlContext {
  params: { room: string; key: string };
}

/** The id of the merchant that all of these operations are limited to. */
const ownMerchant = async (call: LearnerCall): Promise<string> => (await findLearner(call, call.params.room, call.params.key)).id;

/** The query of a list without the fields that name a merchant. */
const ownQuery = ({ query }: ControlOperation) => {
  const { merchant: _, key: __, ...others } = query.properties;
  return Type.Object(others);
};

export const showOwnSandbox = endpoint({
  id: "room.sandbox",
  area: "Lessons",
  method: "GET",
  path: `${LEARNER_PATH}/sandbox`,
  summary: "Get the clock, the version and the merchant of the learner with this key",
  reply: Type.Object({ version: Type.String(), baseUrl: Type.String(), clock: ClockState, merchant: Merchant }),
  errors: ["resource_not_found"],
  async handle(call) {
    const id = await ownMerchant(call);
    const merchant = call.tenants.find(id) ?? fail("resource_not_found", `There is no merchant ${id}.`);
    return { version: call.about.version, baseUrl: `${call.about.url()}/v1`, clock: clockState(call.clock), merchant };
  },
});

export const listOwnRequests = endpoint({
  id: "room.requests",
  area: "Lessons",
  method: "GET",
  path: `${LEARNER_PATH}/requests`,
  summary: "List the requests of the learner with this key, newest first",
  query: ownQuery(listRequests),
  reply: listRequests.reply,
  errors: ["validation_failed", "resource_not_found", "invalid_limit", "invalid_cursor"],
  async handle(call) {
    const merchant = await ownMerchant(call);
    return listRequests.handle({ ...call, query: { ...call.query, merchant } });
  },
});

export const showOwnRequest = endpoint({
  id: "room.request",
  area: "Lessons",
  method: "GET",
  path: `${LEARNER_PATH}/requests/{id}`,
  summary: "Get a request of the learner with this key, with its headers, bodies and events",
  reply: showRequest.reply,
  errors: ["resource_not_found"],
  async handle(call) {
    const merchant = await ownMerchant(call);
    // The same error as for a request that does not exist.
    return call.requestLog.get(call.params.id)?.merchant === merchant ? showRequest.handle(call) : noSuchRequest(call.params.id);
  },
});

export const listOwnAttempts = endpoint({
  id: "room.attempts",
  area: "Lessons",
  method: "GET",
  path: `${LEARNER_PATH}/deliveries`,
  summary: "List the delivery attempts to the endpoints of the learner with this key, newest first",
  query: ownQuery(listAttempts),
  reply: listAttempts.reply,
  errors: ["validation_failed", "resource_not_found", "invalid_limit", "invalid_cursor"],
  async handle(call) {
    const merchant = await ownMerchant(call);
    return listAttempts.handle({ ...call, query: { ...call.query, merchant } });
  },
});

export const showOwnAttempt = endpoint({
  id: "room.attempt",
  area: "Lessons",
  method: "GET",
  path: `${LEARNER_PATH}/deliveries/{id}`,
  summary: "Get a delivery attempt of the learner with this key, and all others of the same event to the same endpoint",
  reply: showAttempt.reply,
  errors: ["resource_not_found"],
  async handle(call) {
    const merchant = await ownMerchant(call);
    const { id } = call.params;
    if (call.attempts.find(undefined, id)?.merchant !== merchant) return noSuchAttempt(id);
    const { request, ...reply } = showAttempt.handle(call) as { request: string | null };
    // Ids of events are unique within a merchant only.
    const isOwn = request !== null && call.requestLog.get(request)?.merchant === merchant;
    return { ...reply, request: isOwn ? request : null };
  },
});

export const listOwnVerdicts = endpoint({
  id: "room.verdicts",
  area: "Lessons",
  method: "GET",
  path: `${LEARNER_PATH}/verdicts`,
  summary: "List the verdicts on the client and the receiver of the learner with this key",
  query: ownQuery(listVerdicts),
  reply: listVerdicts.reply,
  errors: ["validation_failed", "resource_not_found"],
  async handle(call) {
    const merchant = await ownMerchant(call);
    return listVerdicts.handle({ ...call, query: { ...call.query, merchant } });
  },
});
