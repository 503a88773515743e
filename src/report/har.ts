// Formats a run as HAR 1.2: requests to the service and webhook deliveries, for any program that shows network traffic.

import { STATUS_CODES } from "node:http";
import type { RunReport } from "../contracts/run-report.ts";
import type { WebhookDelivery } from "../contracts/webhook.ts";
import { isoTime } from "../kernel/clock.ts";
import { mask, maskValue } from "../kernel/mask.ts";
import { compareTexts, plural } from "../kernel/text.ts";
import type { RequestRow } from "../store/request-log/read-requests.ts";
import type { RunSources } from "./run-data.ts";

/**
 * Writes the run in parts and reads the bodies one exchange at a time, because together they can have 100 million
 * characters. Leaves out exchanges that the log has dropped in the meantime.
 */
export function* har(run: RunReport, { requestLog, attempts }: Pick<RunSources, "requestLog" | "attempts">) {
  const creator = { name: "merchant-sandbox", version: run.sandbox.version };
  const reasons = run.problems.length > 0 ? run.problems : [`${plural(run.totals.verdicts.fail, "verdict")} failed.`];
  const comment = run.failed ? { comment: `The run failed: ${reasons.join(" ")}` } : {};
  const head = JSON.stringify({ version: "1.2", creator, pages: [], ...comment });
  yield `{"log":${head.slice(0, -1)},"entries":[`;
  let separator = "";
  for (const find of inOrder(run, requestLog, attempts)) {
    const exchange = find();
    if (exchange === undefined) continue;
    yield separator + JSON.stringify(entry(exchange));
    separator = ",";
  }
  yield "]}}";
}

/** Returns one function for each exchange, in the order of their times. The function reads the exchange. */
function inOrder(
  { sandbox, requests, deliveries }: RunReport,
  requestLog: RunSources["requestLog"],
  attempts: RunSources["attempts"],
) {
  const readRequest = (id: string) => () => {
    const row = requestLog.get(id);
    return row && requestExchange(sandbox.url, row);
  };
  const readAttempt = (id: string) => () => {
    const [attempt] = attempts.page(undefined, { id, limit: 1 }).data;
    return attempt && deliveryExchange(attempt);
  };
  const exchanges = [
    ...requests.map(({ id, at }) => ({ at, find: readRequest(id) })),
    ...deliveries.map(({ id, at }) => ({ at, find: readAttempt(id) })),
  ];
  return exchanges.sort((one, other) => compareTexts(one.at, other.at)).map(({ find }) => find);
}

type Exchange = ReturnType<typeof requestExchange>;

function requestExchange(base: string, row: RequestRow) {
  const { id, at, duration, method, path, query, status, operation } = row;
  return {
    at: isoTime(at),
    milliseconds: duration,
    method,
    url: `${base}${path}${query === "" ? "" : `?${query}`}`,
    request: { headers: headersIn(row.requestHeaders), body: row.requestBody, bytes: row.requestBytes },
    status: status === 0 ? null : status,
    response: { headers: headersIn(row.responseHeaders), body: row.responseBody, bytes: row.responseBytes },
    comment: [id, operation].filter((part) => part !== null).join(" "),
  };
}

const headersIn = (json: string) => JSON.parse(json) as Record<string, unknown>;

function deliveryExchange(attempt: WebhookDelivery): Exchange {
  const { id, created, durationMs, url, requestHeaders, requestBody, responseStatus, responseBody, errorMessage } =
    attempt;
  const answered = responseBody ?? "";
  return {
    at: isoTime(created * 1_000),
    milliseconds: durationMs,
    method: "POST",
    url: mask(url),
    request: {
      headers: maskValue(requestHeaders) as Record<string, unknown>,
      body: mask(requestBody),
      bytes: Buffer.byteLength(requestBody),
    },
    status: responseStatus,
    response: { headers: {}, body: answered, bytes: Buffer.byteLength(answered) },
    comment: [`delivery ${id}`, `attempt ${attempt.attempt}/${attempt.maxAttempts}`, errorMessage]
      .filter((part) => part !== null)
      .join(", "),
  };
}

const SHARED = { httpVersion: "HTTP/1.1", cookies: [], headersSize: -1 };

function entry({ at, milliseconds, method, url, request, status, response, comment }: Exchange) {
  const type = (message: Exchange["request"]) =>
    String(Object.entries(message.headers).find(([name]) => /^content-type$/i.test(name))?.[1] ?? "");
  const post = request.body === "" ? {} : { postData: { mimeType: type(request), text: request.body } };
  return {
    startedDateTime: at,
    time: milliseconds,
    request: {
      method,
      url,
      ...SHARED,
      headers: pairs(request.headers),
      queryString: [...new URLSearchParams(/\?(.*)/s.exec(url)?.[1])].map(([name, value]) => ({ name, value })),
      bodySize: request.bytes,
      ...post,
    },
    response: {
      // HAR requires a number. It uses -1 for a value that is not available.
      status: status ?? -1,
      statusText: status === null ? "no response" : (STATUS_CODES[status] ?? ""),
      ...SHARED,
      headers: pairs(response.headers),
      content: { size: response.bytes, mimeType: type(response) || "application/json", text: response.body },
      redirectURL: "",
      bodySize: response.bytes,
    },
    cache: {},
    timings: { send: 0, wait: milliseconds, receive: 0 },
    comment,
  };
}

const pairs = (headers: Record<string, unknown>) =>
  Object.entries(headers).flatMap(([name, value]) => [value].flat().map((one) => ({ name, value: String(one) })));
