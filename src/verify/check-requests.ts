// Checks how many requests match, whether they came in an order, or that none matches.

import type { ExpectationOf, NearMiss, RequestMatch } from "../contracts/expectations.ts";
import { tryParseJson } from "../kernel/attempt.ts";
import { plural } from "../kernel/text.ts";
import { matchesWildcard } from "../schema/conditions.ts";
import { valueAt } from "../schema/json-pointer.ts";
import type { RequestRow } from "../store/request-log/read-requests.ts";
import type { RequestLog } from "../store/request-log/request-log.ts";
import {
  type Check,
  type ConditionResult,
  conditionResults,
  MAX_EVIDENCE,
  nearestOf,
  result,
  resultOfCount,
} from "./check-result.ts";

type RequestSource = Pick<RequestLog, "find">;

const PAGE = 500;
const MAX_CANDIDATES = 500;

export function checkRequests(
  requestLog: RequestSource,
  { match, count }: ExpectationOf<"requests">,
  merchant: string | undefined,
): Check {
  return () => {
    const found = matching(requestLog, match, merchant).map(({ id }) => id);
    return resultOfCount(found.reverse(), count, ["request", "requests"], () =>
      nearTo(match, requestLog.find({ merchant }, MAX_CANDIDATES)),
    );
  };
}

export function checkSequence(
  requestLog: RequestSource,
  steps: ExpectationOf<"sequence">,
  merchant: string | undefined,
): Check {
  return () => {
    const found: RequestRow[] = [];
    const rows = [...allRows(requestLog, { merchant })].reverse();
    for (const row of rows) {
      const step = steps[found.length];
      if (step && isMatch(step, row)) found.push(row);
    }
    const seen = { found: found.length, evidence: found.map(({ id }) => id) };
    const missing = steps[found.length];
    if (!missing) return result("pass", `${plural(steps.length, "request")} came in this order.`, seen);
    const last = found.at(-1);
    const after = rows.filter(({ sequence }) => sequence > (last?.sequence ?? 0)).reverse();
    const message =
      `${found.length} of ${plural(steps.length, "request")} came in this order; ` +
      `${last ? `after ${last.id}, ` : ""}no request matches number ${found.length + 1}.`;
    return result("fail", message, { ...seen, closest: nearTo(missing, after.slice(0, MAX_CANDIDATES)), open: true });
  };
}

/** No matching request may come until `span` real milliseconds after verification began. */
export function checkNever(
  requestLog: RequestSource,
  match: RequestMatch,
  span: number,
  merchant: string | undefined,
): Check {
  return (elapsed) => {
    const found = matching(requestLog, match, merchant).map(({ id }) => id);
    const seen = { found: found.length, evidence: found.reverse().slice(-MAX_EVIDENCE) };
    if (found.length > 0) return result("fail", `${plural(found.length, "request")} matched; expected none.`, seen);
    if (elapsed < span) return result("inconclusive", "No request has matched so far.", { open: true });
    return result(
      "pass",
      span > 0 ? `No request matched, nor did any in the ${span} ms of waiting.` : "No request matched.",
    );
  };
}

/** The matching requests, newest first. The database filters by its columns, and `isMatch` by the other conditions. */
function matching(requestLog: RequestSource, match: RequestMatch, merchant: string | undefined): RequestRow[] {
  const { operation, status, key } = match;
  const filter = {
    merchant: merchant ?? match.merchant,
    operation: typeof operation === "string" && !operation.includes("*") ? operation : undefined,
    status: status === undefined ? undefined : String(status),
    key,
  };
  return [...allRows(requestLog, filter)].filter((row) => isMatch(match, row));
}

function* allRows(requestLog: RequestSource, filter: Parameters<RequestLog["find"]>[0]): Generator<RequestRow> {
  for (let before: string | undefined; ; ) {
    const rows = requestLog.find({ ...filter, before }, PAGE);
    yield* rows;
    if (rows.length < PAGE) return;
    before = rows.at(-1)?.id;
  }
}

const isMatch = (match: RequestMatch, row: RequestRow) => conditionsOf(match, row).every(({ met }) => met);

const nearTo = (match: RequestMatch, rows: readonly RequestRow[]): NearMiss[] => {
  const describe = ({ id, method, path, status }: RequestRow) => ({ id, what: `${method} ${path} ${status}` });
  return nearestOf(rows, (row) => conditionsOf(match, row), describe);
};

function conditionsOf(match: RequestMatch, row: RequestRow): ConditionResult[] {
  const { operation, merchant, status, method, path, query, key, idempotencyKey, replayed, header, body } = match;
  const plain = (
    field: string,
    expected: string | number | undefined,
    received: string | number | null,
    isMet = matchesWildcard,
  ): ConditionResult[] =>
    expected === undefined
      ? []
      : [{ field, expected, received, met: received !== null && isMet(String(received), String(expected)) }];
  return [
    ...(operation === undefined ? [] : [named(operation, row.operation)]),
    ...plain("merchant", merchant, row.merchant, same),
    ...plain("method", method, row.method, same),
    ...plain("path", path, row.path),
    ...plain("key", key, row.key, (received, expected) => received.slice(-4) === expected.slice(-4)),
    ...plain(
      "status",
      status,
      row.status,
      (received, expected) => received === expected || `${received[0]}xx` === expected,
    ),
    ...(idempotencyKey === undefined
      ? []
      : conditionResults("", { idempotencyKey }, () => row.idempotencyKey ?? undefined)),
    ...(replayed === undefined ? [] : conditionResults("", { replayed }, () => row.replayOf !== null)),
    ...(query
      ? conditionResults("query ", query, (name) => new URLSearchParams(row.query).get(name) ?? undefined)
      : []),
    ...(header ? conditionResults("header ", header, headerOf(row)) : []),
    ...(body ? conditionResults("body ", body, bodyOf(row)) : []),
  ];
}

const named = (expected: string | string[], received: string | null): ConditionResult => ({
  field: "operation",
  expected,
  received,
  met: [expected].flat().some((name) => matchesWildcard(received ?? "", name)),
});

const same = (received: string, expected: string) => received === expected;

function headerOf({ requestHeaders }: RequestRow) {
  const headers = JSON.parse(requestHeaders) as Record<string, unknown>;
  return (name: string) => (Object.hasOwn(headers, name.toLowerCase()) ? headers[name.toLowerCase()] : undefined);
}

/** Reads the value at a pointer; always undefined if the body is not JSON or the log has cut it off. */
function bodyOf({ requestBody }: RequestRow) {
  const body = tryParseJson(requestBody);
  return (pointer: string) => valueAt(body, pointer);
}
