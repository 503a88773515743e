// Fault rules: arm, list, change and remove them.

import { endpointFactory } from "../areas/declare/operation.ts";
import { RuleState } from "../contracts/fault.ts";
import type { RuleRegistry } from "../faults/rule-registry.ts";
import { RULE_FIELDS } from "../faults/rule-schema.ts";
import { jsonSchemaReply, oneOf, Type, text } from "../schema/shapes.ts";
import { wholeList, wholeListOf } from "./given-values.ts";

const endpoint = endpointFactory<{ faults: RuleRegistry }>("Faults");

/** Match and trigger depend on the action, so the action's own schema validates them later. */
const given = {
  ...RULE_FIELDS,
  target: Type.Optional(text("`api` or `delivery` (default: the target of the action)")),
  match: Type.Optional(Type.Unknown({ description: "Which calls or deliveries it applies to (default: all)" })),
  trigger: Type.Optional(Type.Unknown({ description: "When it fires (default: the next match)" })),
};

const { id: _id, ...changeable } = given;

const action = Type.Unknown({
  description: "What it does: a type and its fields; GET /_sandbox/faults/schema.json lists them",
});

const listFaults = endpoint({
  id: "faults.list",
  method: "GET",
  path: "/faults",
  summary: "List the fault rules in the order in which they are tried, with their counts",
  query: Type.Object({ status: Type.Optional(oneOf(["armed", "spent", "expired"], "Only rules with this status")) }),
  reply: wholeListOf(RuleState),
  handle: ({ faults, query }) =>
    wholeList(faults.list().filter(({ status }) => query.status === undefined || query.status === status)),
});

const addFault = endpoint({
  id: "faults.add",
  method: "POST",
  path: "/faults",
  summary: "Arm a fault rule",
  description:
    "At each stage of a call the first matching rule fires; latency is added to any other fault. By default, a rule " +
    "matches every call, fires at the next match, and lasts until a reset. " +
    "A new rule cannot reuse the `id` of a removed rule while the logs still name it.",
  body: Type.Object({ ...given, action }),
  handlerChecksBody: true,
  example: {
    match: { operation: "payments.list" },
    action: { type: "rate_limit", retryAfter: 2 },
    trigger: { times: 3 },
  },
  reply: RuleState,
  status: 201,
  errors: ["already_exists"],
  handle: ({ faults, body }) => faults.add(body),
});

const showFault = endpoint({
  id: "faults.get",
  method: "GET",
  path: "/faults/{id}",
  summary: "Get a fault rule with its counts",
  reply: RuleState,
  errors: ["resource_not_found"],
  handle: ({ faults, params }) => faults.find(params.id),
});

const changeFault = endpoint({
  id: "faults.change",
  method: "PATCH",
  path: "/faults/{id}",
  summary: "Change a fault rule",
  description: "Replaces the fields sent and keeps the others. A new trigger, or a new ttl, starts counting again.",
  body: Type.Object({ ...changeable, action: Type.Optional(action) }),
  example: { enabled: false },
  reply: RuleState,
  errors: ["resource_not_found"],
  handle: ({ faults, params, body }) => faults.change(params.id, body),
});

const removeFault = endpoint({
  id: "faults.remove",
  method: "DELETE",
  path: "/faults/{id}",
  summary: "Remove a fault rule; the reply has its final counts",
  reply: RuleState,
  errors: ["resource_not_found"],
  handle: ({ faults, params }) => faults.remove(params.id),
});

const clearFaults = endpoint({
  id: "faults.clear",
  method: "DELETE",
  path: "/faults",
  summary: "Remove every fault rule, or one merchant's rules",
  query: Type.Object({ merchant: Type.Optional(text("Only rules that apply to this merchant alone")) }),
  reply: Type.Object({ removed: Type.Integer() }),
  handle: ({ faults, query }) => ({ removed: faults.clear(query.merchant) }),
});

const showFaultSchema = endpoint({
  id: "faults.schema",
  method: "GET",
  path: "/faults/schema.json",
  summary: "Get the JSON Schema of a fault rule",
  reply: jsonSchemaReply,
  handle: ({ faults }) => faults.schema(),
});

// /faults/schema.json comes before /faults/{id}, which would also match it.
export const operations = [listFaults, addFault, showFaultSchema, showFault, changeFault, removeFault, clearFaults];
