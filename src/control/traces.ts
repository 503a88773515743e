// Traces: what one action caused, each step below its cause.

import { endpointFactory } from "../areas/declare/operation.ts";
import { Trace } from "../contracts/trace.ts";
import { fail } from "../kernel/errors.ts";
import { PATTERNS } from "../schema/patterns.ts";
import { WHAT_IS_KEPT } from "../store/webhooks/retention.ts";
import { readAction, readTrace, type TraceSources } from "./trace-steps.ts";

const endpoint = endpointFactory<TraceSources>("Requests");

const showTrace = endpoint({
  id: "traces.get",
  method: "GET",
  path: "/traces/{id}",
  exampleParams: { id: "req_lodge_1" },
  summary: "Get what one action caused: requests, events, deliveries, and the calls that receivers made back",
  description:
    "`id` is a trace id of 32 hex digits, or the id of a request, an event or a delivery attempt. Each step follows " +
    "its cause. If the logged request has a `traceparent` header, the action is the whole trace; otherwise it starts " +
    "with that request. The calls of a receiver that are matched by time alone are not followed further.",
  reply: Trace,
  errors: ["resource_not_found"],
  handle: ({ params: { id }, ...sources }) =>
    (IS_TRACE.test(id) ? readTrace(sources, id.toLowerCase()) : readAction(sources, id)) ??
    fail(
      "resource_not_found",
      `No request, event or delivery ${id} is logged, and it is not a trace id of 32 hex digits. ${WHAT_IS_KEPT}`,
    ),
});

const IS_TRACE = new RegExp(PATTERNS.traceId.pattern);

export const operations = [showTrace];
