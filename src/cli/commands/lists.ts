// `requests`, `events`, `deliveries`, `verdicts` and `endpoints`: list what a running sandbox has recorded, newest
// first, or show the details of one row.

import type {
  ListedEndpoint,
  LoggedAttempt,
  LoggedEvent,
  LoggedRequest,
  RequestDetail,
  Verdict,
} from "../../../generated/control-api.ts";
import { addressOf } from "../../client/http-transport.ts";
import { curlOfRequest, isComplete } from "../../client/logged-request.ts";
import { stepText } from "../../client/trace-text.ts";
import type { TraceStep } from "../../contracts/trace.ts";
import { parseTime } from "../../kernel/clock.ts";
import { exitCodes } from "../../kernel/errors.ts";
import { mask } from "../../kernel/mask.ts";
import { PROGRAM } from "../../kernel/program-name.ts";
import { count, escapeControlCharacters } from "../../kernel/text.ts";
import { PATTERNS } from "../../schema/patterns.ts";
import { MOST_ROWS } from "../empty-list.ts";
import { listCommand, type Page } from "../list-command.ts";
import { CURL } from "../output/detail-lines.ts";
import { attemptText, requestText, verdictText } from "../output/event-lines.ts";
import { note } from "../output/print.ts";
import type { RunningSandbox } from "../remote/running-sandbox.ts";

type Control = RunningSandbox["control"];

/** The row as the live stream sends it, with its time as a number. */
const timed = <Row extends { at: string }>(row: Row) => ({ ...row, at: parseTime(row.at) ?? 0 });

/**
 * With --trace and no other filter, lists everything that the trace caused: requests, events, deliveries, and the calls
 * that receivers made back.
 */
async function actionOf(control: Control, input: object): Promise<Page<TraceStep> | undefined> {
  const { trace, ...filters } = input as { trace?: string };
  if (trace === undefined || Object.values(filters).some((value) => value !== undefined)) return undefined;
  if (!IS_TRACE.test(trace)) return undefined;
  const { steps, has_more: hasMore } = await control.traces.get({ id: trace });
  if (hasMore) note(`The trace has further steps: the first ${steps.length} are listed.`);
  return { data: steps };
}

/** A text that is not a trace id goes to the control API, whose error says what is wrong with it. */
const IS_TRACE = new RegExp(PATTERNS.traceId.pattern);

const stepLine = (step: TraceStep) => escapeControlCharacters("  ".repeat(step.depth) + stepText(step));

export const requests = listCommand<LoggedRequest | TraceStep>({
  name: "requests",
  summary: "list the newest requests, or show one with its bodies, events, deliveries and verdicts",
  group: "requests",
  flags: { curl: { description: "print the request of this id as a curl command" } },
  whenEmpty: `Point a client to the sandbox: ${PROGRAM} env prints the address and a key.`,
  line: (row) => ("depth" in row ? stepLine(row) : requestText(timed(row))),
  instead: actionOf,
  async get(control, id, { curl }) {
    const request = await control.requests.get({ id });
    if (curl !== undefined) return { [CURL]: await runnableCurl(control, request) };
    return requestDetails(control, id, request);
  },
});

/** A request with its deliveries and verdicts. */
export async function requestDetails(control: Control, id: string, found?: RequestDetail): Promise<object> {
  const request = found ?? (await control.requests.get({ id }));
  const [{ data: attempts }, { data: verdicts }] = await Promise.all([
    control.deliveries.list({ requestId: id, limit: MOST_ROWS }),
    control.verdicts.list({}),
  ]);
  return {
    ...request,
    // The log has 0 for a response that was lost.
    status: request.status || null,
    deliveries: attempts.map(attemptLine),
    verdicts: shownVerdicts(verdicts.filter((verdict) => verdict.requests.includes(id))),
  };
}

const ORDER = ["fail", "inconclusive", "pass"];

/** The verdicts in the details of a row, failures first. Verdicts that did not pass have a hint. */
const shownVerdicts = (verdicts: readonly Verdict[]) =>
  verdicts
    .toSorted((one, other) => ORDER.indexOf(one.verdict) - ORDER.indexOf(other.verdict))
    .map(({ verdict, rule, id, message, hint }) => ({
      [verdict]: rule,
      id,
      message,
      hint: verdict === "pass" ? null : hint,
    }));

async function runnableCurl(control: Control, request: RequestDetail): Promise<string> {
  const { baseUrl } = await control.overview();
  const { merchant } = request;
  const merchants =
    merchant === null ? [] : (await control.merchants.list({ merchant }).catch(() => ({ data: [] }))).data;
  if (!isComplete(request))
    note("The request log truncated or masked parts of the request: complete the command before you run it.");
  return curlOfRequest({ url: addressOf(baseUrl), token: undefined }, request, merchants);
}

export const events = listCommand<LoggedEvent>({
  name: "events",
  summary: "list the newest events, or show one with its body and deliveries",
  group: "events",
  whenEmpty: `Try ${PROGRAM} trigger payment.succeeded.`,
  line({ created, type, id, merchant, request, deliveries }) {
    const states = Object.entries(deliveries).flatMap(([state, times]) =>
      times > 0 ? [`${count(times)} ${state}`] : [],
    );
    return `${created} event ${type} ${id} ${merchant} ${request ?? "-"} ${states.join(", ") || "no endpoint"}`;
  },
  async get(control, id) {
    const event = await control.events.get({ id });
    const { data } = await control.deliveries.list({ eventId: id, limit: MOST_ROWS });
    return { ...event, attempts: data.map(attemptLine) };
  },
});

const attemptLine = (attempt: LoggedAttempt) =>
  attemptText({ ...timed(attempt), merchant: attempt.merchantId, url: mask(String(attempt.url)), fault: null });

/** Explains an empty log: how many deliveries wait for their first attempt, and how to send the held deliveries. */
async function whyNoAttempt(control: Control): Promise<string | undefined> {
  const { kept, pendingDeliveries: pending, heldDeliveries: held } = await control.overview();
  if (kept.attempts > 0 || pending === 0) return undefined;
  const waiting = `No attempts yet; ${count(pending)} waiting for the first one`;
  return held === 0 ? `${waiting}.` : `${waiting}, ${count(held)} of them until ${PROGRAM} replay waiting.`;
}

export const deliveries = listCommand<LoggedAttempt>({
  name: "deliveries",
  summary: "list the newest delivery attempts, or show one with what was sent and received",
  group: "deliveries",
  whenEmpty: `Try ${PROGRAM} receive in another terminal, then ${PROGRAM} trigger payment.succeeded.`,
  whenNoneMatch: whyNoAttempt,
  line: attemptLine,
  async get(control, id) {
    const { attempt, attempts, request } = await control.deliveries.get({ id });
    const { status, responseStatus, errorMessage } = attempt;
    const found = await control.verdicts.list({});
    const verdicts = shownVerdicts(found.data.filter((verdict) => verdict.attempts.includes(id)));
    // The result comes first, because the headers and the body are long.
    const result = { id, status, responseStatus, errorMessage, verdicts };
    return { ...result, ...attempt, request, attempts: attempts.map(attemptLine) };
  },
});

/** Explains a list without failures: the rules that passed, and the armed faults that have not fired yet. */
async function whyNoFailure(control: Control, input: object): Promise<string | undefined> {
  const { data } = await control.faults.list({ status: "armed" });
  const unfired = data.filter(({ fired }) => fired === 0).map(({ id }) => id);
  const waiting = unfired.length === 1 ? "is armed and has not fired yet" : "are armed and have not fired yet";
  const good = await passed(control, input);
  if (unfired.length === 0) return good;
  const none = (input as { verdict?: string }).verdict === "fail" ? "No failures." : "No verdicts.";
  return `${good ?? none} ${unfired.join(", ")} ${waiting}.`;
}

/** Explains a list without failures: the rules that passed, and the rules that are inconclusive. */
async function passed(control: Control, input: object): Promise<string | undefined> {
  if ((input as { verdict?: string }).verdict !== "fail") return undefined;
  const { data } = await control.verdicts.list({ ...input, verdict: undefined } as object);
  const rulesWith = (wanted: string) =>
    [...new Set(data.filter(({ verdict }) => verdict === wanted).map(({ rule }) => rule))].join(", ");
  const [passed, open] = [rulesWith("pass"), rulesWith("inconclusive")];
  if (passed === "") return undefined;
  const undecided = `Not decided: ${open} (${PROGRAM} verdicts --verdict inconclusive).`;
  return [`No failures. Passed: ${passed}.`, ...(open === "" ? [] : [undecided])].join(" ");
}

export const verdicts = listCommand<Verdict>({
  name: "verdicts",
  summary: "list the newest verdicts of the judge, or show one with its evidence and how to fix it",
  group: "verdicts",
  flags: {
    failed: { description: "list only failures, like --verdict fail" },
    fail: { description: "list only failures, and exit with 3 if there is one, for scripts" },
  },
  implied: ({ failed, fail }) => ((failed ?? fail) === undefined ? {} : { verdict: "fail" }),
  exitCode: ({ fail }, rows) => (fail !== undefined && rows.length > 0 ? exitCodes.verdict : exitCodes.ok),
  whenEmpty:
    "The judge checks retries after a failure, and webhook receivers. " +
    `Try ${PROGRAM} fault add 503, then call the API.`,
  whenNoneMatch: whyNoFailure,
  line: (verdict) => verdictText(timed(verdict)),
  get: (control, id) => control.verdicts.get({ id }),
});

export const endpoints = listCommand<ListedEndpoint>({
  name: "endpoints",
  summary: "list the webhook endpoints, or show one with its secret",
  group: "endpoints",
  whenEmpty: `Try ${PROGRAM} listen --forward-to 3000.`,
  line: ({ id, merchant, url, events, status, health }) =>
    `${id} ${merchant} ${mask(url)} ${events.join(",")} ${status === "enabled" ? health.state : status}`,
  get: (control, id) => control.endpoints.get({ id }),
});
