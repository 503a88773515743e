// Background traffic: start it, list it, stop it.

import { endpointFactory } from "../areas/declare/operation.ts";
import { ShownTraffic, TrafficOptions, type TrafficState } from "../contracts/traffic.ts";
import { isoTime } from "../kernel/clock.ts";
import { Type, text } from "../schema/shapes.ts";
import type { Traffic } from "../traffic/traffic.ts";
import { wholeList, wholeListOf } from "./given-values.ts";

const endpoint = endpointFactory<{ traffic: Pick<Traffic, "start" | "stop" | "list"> }>("Traffic");

const trafficReply = ({ startedAt, nextAt, ...state }: TrafficState) => ({
  ...state,
  startedAt: isoTime(startedAt),
  nextAt: nextAt === null ? null : isoTime(nextAt),
});

const startTraffic = endpoint({
  id: "traffic.start",
  method: "POST",
  path: "/traffic",
  summary: "Start background traffic",
  description:
    "Creates records that fit the merchant, in sandbox time: payments, bookings, orders, payroll runs. Payouts contain only payments that were made. " +
    "Changes that happen on a date, such as a payout arriving, follow the clock; with `--life off`, traffic makes them itself. " +
    "A frozen clock pauses traffic, and advancing the clock performs what falls due. The same seed and start time produce the same records. " +
    "It changes records that it created, the stock that orders take and the takings that payouts contain, and leaves a record alone once another client has changed it. " +
    "Of other records, it settles payments and taxes that are pending when it starts, submits due drafts of payrolls, renews memberships, and pays remittances that are due or overdue. " +
    "Each merchant has at most one: starting another replaces it. A reset, or the end of the sandbox, stops it.",
  body: TrafficOptions,
  example: { merchant: "mer_lodge", rate: "2/s", mix: { payment: 3, booking: 1 }, for: "1m" },
  reply: ShownTraffic,
  status: 201,
  errors: ["resource_not_found"],
  handle: ({ traffic, body }) => trafficReply(traffic.start(body)),
});

const listTraffic = endpoint({
  id: "traffic.list",
  method: "GET",
  path: "/traffic",
  summary: "List the traffic of each merchant with its counts",
  reply: wholeListOf(ShownTraffic),
  handle: ({ traffic }) => wholeList(traffic.list().map(trafficReply)),
});

const stopTraffic = endpoint({
  id: "traffic.stop",
  method: "DELETE",
  path: "/traffic",
  summary: "Stop the traffic of all merchants, or of one",
  query: Type.Object({ merchant: Type.Optional(text("Only of this merchant")) }),
  reply: wholeListOf(ShownTraffic),
  handle: ({ traffic, query }) => wholeList(traffic.stop(query.merchant).map(trafficReply)),
});

export const operations = [startTraffic, listTraffic, stopTraffic];
