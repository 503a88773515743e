// The request log: requests with their responses and the events they caused. Also applies row filters to logs.

import { endpointFactory } from "../areas/declare/operation.ts";
import {
  type FilterFacts,
  type FilterVocabulary,
  filterProblem,
  readRowFilter,
  requestFacts,
  requestVocabulary,
} from "../client/row-filter.ts";
import { LoggedRequest } from "../contracts/logged-request.ts";
import { realDelay } from "../kernel/clock.ts";
import { nearestOrAll } from "../kernel/did-you-mean.ts";
import { fail } from "../kernel/errors.ts";
import { PATTERNS } from "../schema/patterns.ts";
import { listOf, oneOf, pageSize, Type, text } from "../schema/shapes.ts";
import { failInvalidCursor } from "../store/records/record-pages.ts";
import { type RequestRow, type RequestSummaryRow, shownRequest } from "../store/request-log/read-requests.ts";
import { STAGES, stagesBetween } from "../store/request-log/stages.ts";
import type { Stores } from "../store/stores.ts";
import { timeOf } from "./given-values.ts";

/** The number of rows read at once, which takes a few milliseconds. */
const CHUNK = 500;

export const filterFields = {
  path: Type.Optional(text("Only rows whose path or URL contains this text")),
  filter: Type.Optional(
    text(
      "Only rows that match this filter, as in the dashboard: " +
        "`status:4xx path:/v1/payments ms>100 time>12:04 is:fault !lodge`",
    ),
  ),
};

interface FilteredLog<Row> {
  vocabulary: FilterVocabulary;
  factsOf(row: Row): FilterFacts;
  /** The rows older than `after`, newest first. */
  read(after: string | undefined, limit: number): readonly Row[];
}

export async function filteredRows<Row extends { id: string }>(
  log: FilteredLog<Row>,
  {
    filter = "",
    starting_after,
    limit,
  }: { filter: string | undefined; starting_after: string | undefined; limit: number },
  gone: AbortSignal | undefined,
) {
  const problem = filterProblem(filter, log.vocabulary);
  if (problem !== undefined) fail("validation_failed", `${problem}; received ${JSON.stringify(filter)}.`);
  const found: Row[] = [];
  const matches = readRowFilter(filter);
  const chunk = filter.trim() === "" ? limit + 1 : CHUNK;
  for (let after = starting_after; ; await realDelay(0)) {
    const rows = log.read(after, chunk);
    found.push(...rows.filter((row) => matches(log.factsOf(row))));
    if (found.length > limit || rows.length < chunk || gone?.aborted)
      return { object: "list" as const, data: found.slice(0, limit), has_more: found.length > limit };
    after = rows.at(-1)?.id;
  }
}

interface Parts extends Pick<Stores, "requestLog" | "outbox"> {
  /** Ids of the operations of the service. */
  operationIds: readonly string[];
}

const endpoint = endpointFactory<Parts>("Requests");

const Message = Type.Object({
  headers: Type.Record(Type.Unknown()),
  body: Type.String({ description: "As sent, truncated at 16 KiB, secrets masked" }),
  bytes: Type.Integer({ description: "Length before truncation" }),
});

const RequestDetail = Type.Object(
  {
    ...LoggedRequest.properties,
    stages: Type.Array(Type.Object({ name: oneOf(STAGES, ""), ms: Type.Number() }), {
      description:
        "How long each stage took, in real milliseconds: `checks` (key, rate limit), the `body` of the request, " +
        "`validation`, the `operation`, `response` (until its first byte; injected latency is here), and `sending`. " +
        "Stages that the request did not reach are left out",
    }),
    request: Message,
    response: Message,
    events: Type.Array(Type.Object({ id: Type.String(), type: Type.String() }), {
      description: "Events the request caused",
    }),
  },
  { title: "request_detail" },
);

const listRequests = endpoint({
  id: "requests.list",
  method: "GET",
  path: "/requests",
  summary: "List requests, newest first",
  description: "The log keeps the newest 10,000 requests. Calls of /_sandbox are not logged.",
  query: Type.Object({
    operation: Type.Optional(Type.String({ description: "Only requests of this operation, such as payments.list" })),
    merchant: Type.Optional(Type.String({ description: "Only requests of this merchant" })),
    status: Type.Optional(
      text("Only requests with a status such as 429, or a class such as 4xx", { pattern: PATTERNS.status.pattern }),
    ),
    key: Type.Optional(Type.String({ description: "Only requests with the API key that ends with these characters" })),
    since: Type.Optional(Type.String({ description: "Only requests at or after this time" })),
    trace: Type.Optional(
      text("Only requests of this trace: the 32 hex digits in their `traceparent` header", {
        pattern: PATTERNS.traceId.pattern,
      }),
    ),
    ...filterFields,
    starting_after: Type.Optional(
      Type.String({ description: "Id of a request: only requests before it", "x-sandbox-code": "invalid_cursor" }),
    ),
    limit: pageSize(),
  }),
  reply: listOf(LoggedRequest),
  errors: ["invalid_limit", "invalid_cursor"],
  async handle({ query, requestLog, operationIds, gone }) {
    const { since, limit = 25, starting_after, filter, ...filters } = query;
    if (filters.operation !== undefined && !operationIds.includes(filters.operation))
      fail(
        "validation_failed",
        `There is no operation ${filters.operation}.${nearestOrAll(filters.operation, operationIds)}`,
      );
    const { numbers } = requestLog;
    // `starting_after` may name a request that the log has dropped. All older requests are gone too: the page is empty.
    if (starting_after !== undefined && requestLog.sequenceOf(starting_after) === 0 && !numbers.wasMade(starting_after))
      failInvalidCursor(query, "request", "in the log");
    const log = {
      vocabulary: requestVocabulary,
      factsOf: (row: RequestSummaryRow) => requestFacts({ ...shownRequest(row), at: row.at }),
      read: (before: string | undefined, most: number) =>
        requestLog.summaries({ ...filters, since: timeOf("since", since), before }, most),
    };
    const { data, ...envelope } = await filteredRows(log, { filter, starting_after, limit }, gone);
    return { ...envelope, data: data.map(shownRequest) };
  },
});

const showRequest = endpoint({
  id: "requests.get",
  method: "GET",
  path: "/requests/{id}",
  exampleParams: { id: "req_lodge_1" },
  summary: "Get a request with its headers, bodies and events",
  reply: RequestDetail,
  errors: ["resource_not_found"],
  handle({ params, requestLog, outbox }) {
    const row =
      requestLog.get(params.id) ??
      fail(
        "resource_not_found",
        `The log has no request ${params.id}. It keeps the newest 10,000, until a reset; ` +
          "a crash under load loses the last seconds of the log.",
      );
    const request = { headers: JSON.parse(row.requestHeaders), body: row.requestBody, bytes: row.requestBytes };
    const response = { headers: JSON.parse(row.responseHeaders), body: row.responseBody, bytes: row.responseBytes };
    return { ...shownRequest(row), stages: stagesOf(row), request, response, events: outbox.eventsOf(params.id) };
  },
});

function stagesOf({ stages, duration }: RequestRow) {
  const microseconds = [...stages.split(",").map(Number), Math.round(duration * 1_000)];
  return stagesBetween(microseconds).map(({ name, from, to }) => ({ name, ms: (to - from) / 1_000 }));
}

export const operations = [listRequests, showRequest];
