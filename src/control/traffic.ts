// Business that goes on by itself: begin it, look at it, end it.

import { TRAFFIC_STATES, type TrafficState } from "../contracts/traffic.ts";
import { isoTime } from "../kernel/clock.ts";
import { nullable, oneOf, Type, text } from "../schema/shapes.ts";
import { endpoint } from "./control-context.ts";

const counts = (description: string) => Type.Record(Type.Number(), { description });

const TrafficShape = Type.Object(
  {
    merchant: Type.String({ description: "To whom it happens" }),
    rate: Type.String(),
    for: nullable(Type.String({ description: "How long it lasts; null until it is stopped" })),
    mix: counts("How much weight each kind of record has"),
    status: oneOf(TRAFFIC_STATES, "`done` when its time is over, `failed` after a defect of the sandbox"),
    happened: Type.Integer({ description: "How often something happened" }),
    byKind: counts("The same for each kind of record"),
    startedAt: Type.String({ description: "Sandbox time" }),
    nextAt: nullable(Type.String({ description: "Sandbox time at which something happens next; null when nothing does" })),
  },
  { title: "traffic" },
);

const TrafficList = Type.Object({ object: oneOf(["list"], "Always `list`"), data: Type.Array(TrafficShape) });

const shown = ({ startedAt, nextAt, ...state }: TrafficState) => ({
  ...state,
  startedAt: isoTime(startedAt),
  nextAt: nextAt === null ? null : isoTime(nextAt),
});

export const startTraffic = endpoint({
  id: "traffic.start",
  area: "Traffic",
  method: "POST",
  path: "/traffic",
  summary: "Let plausible business go on by itself",
  description:
    "Payments succeed, payouts are paid, bookings arrive and are confirmed or declined, in sandbox time: while the clock stands still nothing happens, and advancing it plays the span. The same seed and the same start make the same records. It touches only what it made itself. A merchant has one; another replaces it; a reset ends it, and so does the end of the sandbox.",
  body: Type.Object({
    merchant: Type.Optional(text("To whom it happens; the first merchant unless given")),
    rate: Type.Optional(text("So many in a span, from 1/d to 100/s: 2/s unless given")),
    mix: Type.Optional(
      Type.Unknown({ description: 'Weights of kinds of record, such as {"payment": 3, "booking": 1}; a mix of all unless given' }),
    ),
    for: Type.Optional(text("How long it lasts, such as 1m; until it is stopped unless given, with 100,000 happenings at most")),
  }),
  example: { merchant: "mer_lodge", rate: "2/s", mix: { payment: 3, booking: 1 }, for: "1m" },
  reply: TrafficShape,
  status: 201,
  errors: ["validation_failed", "resource_not_found"],
  handle: ({ traffic, body }) => shown(traffic.start(body)),
});

export const listTraffic = endpoint({
  id: "traffic.list",
  area: "Traffic",
  method: "GET",
  path: "/traffic",
  summary: "The traffic of each merchant, and what came of it",
  reply: TrafficList,
  handle: ({ traffic }) => ({ object: "list" as const, data: traffic.list().map(shown) }),
});

export const stopTraffic = endpoint({
  id: "traffic.stop",
  area: "Traffic",
  method: "DELETE",
  path: "/traffic",
  summary: "End what runs, of every merchant or of one",
  query: Type.Object({ merchant: Type.Optional(text("Only this merchant's")) }),
  reply: TrafficList,
  errors: ["validation_failed"],
  handle: ({ traffic, query }) => ({ object: "list" as const, data: traffic.stop(query.merchant).map(shown) }),
});
