// Fault rules from outside: arm them, look at what they did, change and remove them.

import type { RuleState } from "../contracts/fault.ts";
import { oneOf, Type, text } from "../schema/shapes.ts";
import { endpoint } from "./control-context.ts";

const AnyObject = () => Type.Record(Type.Unknown());
const nullable = (schema: ReturnType<typeof text>) => Type.Union([schema, Type.Null()]);

const STATUSES = ["armed", "spent", "expired", "removed"] as const;

const RuleShape = Type.Object(
  {
    id: Type.String(),
    name: nullable(text("A name for people")),
    target: oneOf(["api", "delivery"], "What it acts on"),
    match: AnyObject(),
    trigger: AnyObject(),
    action: AnyObject(),
    expect: Type.Array(Type.String(), { description: "The judge's rules that it tries" }),
    ttl: nullable(text("How long it lives")),
    priority: Type.Integer({ description: "Rules with a higher one are tried first" }),
    label: Type.Boolean(),
    enabled: Type.Boolean(),
    status: oneOf(STATUSES, "`spent` when it has fired as often as it may, `expired` when its time is over"),
    seen: Type.Integer({ description: "How many calls or attempts it matched" }),
    fired: Type.Integer(),
    remaining: Type.Union([Type.Integer(), Type.Null()], { description: "How often it may still fire; null where no number bounds that" }),
    lastFiredAt: nullable(text("Sandbox time")),
    endsAt: nullable(text("Sandbox time at which its ttl, or its `for`, is over; null where neither bounds it")),
  },
  { title: "fault_rule" },
);

const given = {
  name: Type.Optional(text("A name for people")),
  target: Type.Optional(text("`api` or `delivery`; follows from the action")),
  match: Type.Optional(Type.Unknown({ description: "Which calls or deliveries; all unless given" })),
  trigger: Type.Optional(Type.Unknown({ description: "When it fires; the next time it matches unless given" })),
  expect: Type.Optional(Type.Unknown({ description: "The judge's rules that it tries" })),
  ttl: Type.Optional(text("How long it lives, such as 10m")),
  priority: Type.Optional(
    Type.Integer({ description: "Rules with a higher one are tried first, equal ones as they came; 0 unless given" }),
  ),
  label: Type.Optional(Type.Boolean({ description: "Whether answers say in X-Sandbox-Fault which rule touched them" })),
  enabled: Type.Optional(Type.Boolean()),
};

const action = Type.Unknown({ description: "What it does: a type and its fields; GET /_sandbox/faults/schema.json has them all" });

const shown = (state: RuleState) => ({ ...state, action: { ...state.action }, expect: [...state.expect] });

export const listFaults = endpoint({
  id: "faults.list",
  area: "Faults",
  method: "GET",
  path: "/faults",
  summary: "Every fault rule, in the order in which they are tried, and what each has done",
  query: Type.Object({ status: Type.Optional(oneOf(["armed", "spent", "expired"], "Only those that stand so")) }),
  reply: Type.Object({ object: oneOf(["list"], "Always `list`"), data: Type.Array(RuleShape) }),
  errors: ["validation_failed"],
  handle: ({ faults, query }) => ({
    object: "list" as const,
    data: faults
      .list()
      .filter(({ status }) => query.status === undefined || query.status === status)
      .map(shown),
  }),
});

export const addFault = endpoint({
  id: "faults.add",
  area: "Faults",
  method: "POST",
  path: "/faults",
  summary: "Arm a fault rule",
  description:
    "The first rule that fires wins at each point of a call's way; latency comes on top of anything. What is left out means: every call, the next time, until a reset.",
  body: Type.Object({ id: Type.Optional(text("A name for machines, such as flt_lost_payment; made up unless given")), ...given, action }),
  example: { match: { operation: "payments.list" }, action: { type: "rate_limit", retryAfter: 2 }, trigger: { times: 3 } },
  reply: RuleShape,
  status: 201,
  errors: ["validation_failed", "already_exists"],
  handle: ({ faults, body }) => shown(faults.add(body)),
});

export const showFault = endpoint({
  id: "faults.get",
  area: "Faults",
  method: "GET",
  path: "/faults/{id}",
  summary: "One fault rule, and what it has done",
  reply: RuleShape,
  errors: ["resource_not_found"],
  handle: ({ faults, params }) => shown(faults.find(params.id)),
});

export const changeFault = endpoint({
  id: "faults.change",
  area: "Faults",
  method: "PATCH",
  path: "/faults/{id}",
  summary: "Change a fault rule",
  description: "Each field that is given replaces the one there is. A new trigger, or a new ttl, begins to count afresh.",
  body: Type.Object({ ...given, action: Type.Optional(action) }),
  example: { enabled: false },
  reply: RuleShape,
  errors: ["validation_failed", "resource_not_found"],
  handle: ({ faults, params, body }) => shown(faults.change(params.id, body)),
});

export const removeFault = endpoint({
  id: "faults.remove",
  area: "Faults",
  method: "DELETE",
  path: "/faults/{id}",
  summary: "Remove a fault rule; the answer says what it did in its life",
  reply: RuleShape,
  errors: ["resource_not_found"],
  handle: ({ faults, params }) => shown(faults.remove(params.id)),
});

export const clearFaults = endpoint({
  id: "faults.clear",
  area: "Faults",
  method: "DELETE",
  path: "/faults",
  summary: "Remove every fault rule, or those of one merchant",
  query: Type.Object({ merchant: Type.Optional(text("Only rules that can touch nobody else")) }),
  reply: Type.Object({ removed: Type.Integer() }),
  errors: ["validation_failed"],
  handle: ({ faults, query }) => ({ removed: faults.clear(query.merchant) }),
});

export const showFaultSchema = endpoint({
  id: "faults.schema",
  area: "Faults",
  method: "GET",
  path: "/faults/schema.json",
  summary: "The JSON Schema of a fault rule",
  reply: AnyObject(),
  handle: ({ faults }) => faults.schema(),
});
