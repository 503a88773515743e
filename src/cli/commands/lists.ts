// `requests`, `events`, `deliveries`, `verdicts` and `endpoints`: what a running sandbox has recorded, newest first,
// and the details of one.

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
import { controlCatalogue } from "../../control/index.ts";
import { parseTime, realDelay } from "../../kernel/clock.ts";
import { exitCodes, usageError } from "../../kernel/errors.ts";
import { mask } from "../../kernel/mask.ts";
import { PROGRAM } from "../../kernel/program-name.ts";
import { count, escapeControlCharacters, kebab } from "../../kernel/text.ts";
import { PATTERNS } from "../../schema/patterns.ts";
import type { FlagDefinition, FlagDefinitions, Flags } from "../arguments.ts";
import type { Command } from "../command.ts";
import { attemptText, requestText, verdictText } from "../output/event-lines.ts";
import { note, print } from "../output/print.ts";
import type { RunningSandbox } from "../remote/running-sandbox.ts";
import { sandboxCommand } from "../sandbox-command.ts";

type Control = RunningSandbox["control"];

interface Page<Row> {
  data: readonly Row[];
  /** Absent in lists without pages. */
  has_more?: boolean;
}

interface ListDefinition<Row> {
  name: string;
  summary: string;
  /** The group of the control API whose `list` returns the rows and has the filters as query parameters. */
  group: "requests" | "events" | "deliveries" | "verdicts" | "endpoints";
  /** Flags besides the filters. */
  flags?: FlagDefinitions;
  /** The filters that follow from those flags. */
  implied?(flags: Flags): object;
  whenEmpty: string;
  /** A sentence about a filtered list that is empty; undefined if the usual one is enough. */
  whenNoneMatch?(control: Control, input: object): Promise<string | undefined>;
  exitCode?(flags: Flags, rows: readonly object[]): number;
  /** The lines that these filters list instead of rows; undefined if they list rows. */
  instead?(control: Control, input: object): Promise<Page<object> | undefined>;
  line(row: Row): string;
  /** Everything that is known about the row of this id. */
  get(control: Control, id: string, flags: Flags): Promise<object>;
}

/** Query parameters whose flags have other names or descriptions. */
const PARAMETERS: Readonly<Record<string, { flag: string } & FlagDefinition>> = {
  limit: { flag: "limit", value: "n", description: "list this many, from 1 to 100", defaultText: "25" },
  starting_after: { flag: "starting-after", value: "id", description: "list those older than this one: the next page" },
  trace: {
    flag: "trace",
    value: "id",
    description:
      "list what the calls of this trace caused: requests, events, deliveries and calls back; with other filters, " +
      "only its requests",
  },
};

const parametersOf = (group: ListDefinition<never>["group"]) =>
  controlCatalogue.find(({ id }) => id === `${group}.list`)?.query?.properties ?? {};

function filtersOf(group: ListDefinition<never>["group"]) {
  return Object.entries(parametersOf(group))
    .filter(([name]) => name !== "ending_before")
    .map(([name, schema]) => {
      const { description = "", enum: values } = schema as { description?: string; enum?: readonly string[] };
      const { flag, ...given } = PARAMETERS[name] ?? {
        flag: kebab(name).replace(/-id$/, ""),
        description: inImperative(description),
      };
      return { name, flag, definition: { value: values?.join("|") ?? flag, ...given } };
    });
}

/** Turns the description of a query parameter, such as `Only of this type`, into the imperative for a flag. */
const inImperative = (description: string) =>
  description.replace(/^Only (of|to|with|at)\b/, "list only those $1").replace(/^Only/, "list only");

function listCommand<Row extends { id: string | null }>(list: ListDefinition<Row>): Command {
  const filters = filtersOf(list.group);
  let emptyText: string | undefined;
  return sandboxCommand({
    summary: list.summary,
    usage: `${list.name} [id]`,
    flags: {
      ...list.flags,
      ...Object.fromEntries(filters.map(({ flag, definition }) => [flag, definition])),
      follow: { description: "keep printing new ones, the newest last, until Ctrl-C" },
    },
    async call(sandbox, { flags, positionals: [id] }): Promise<Page<object>> {
      if (id !== undefined) {
        refuseOtherKind(id, list.group);
        return { data: [await list.get(sandbox.control, id, flags)] };
      }
      // The sandbox validates the filters, so that its errors quote them as typed.
      const typed = Object.fromEntries(filters.map(({ name, flag }) => [name, flags[flag]]));
      const input = { ...typed, merchant: await sandbox.merchantId(flags.merchant), ...list.implied?.(flags) };
      const rows = sandbox.control[list.group] as unknown as { list(query: object): Promise<Page<Row>> };
      const page = (more: object = {}) => rows.list({ ...input, ...more });
      if (flags.follow === undefined) {
        const found = (await list.instead?.(sandbox.control, input)) ?? (await page());
        const said = found.data.length === 0 ? await list.whenNoneMatch?.(sandbox.control, input) : undefined;
        emptyText = flags.json === undefined ? said : undefined;
        return found;
      }
      // A list without pages takes no limit, and returns all rows.
      const longest = "limit" in parametersOf(list.group) ? { limit: MOST_ROWS } : {};
      return follow(page, longest, flags.json === undefined ? list.line : JSON.stringify);
    },
    exitCode: ({ data }, { flags }) => list.exitCode?.(flags, data) ?? exitCodes.ok,
    lines({ data, has_more: hasMore = false }, { positionals, flags }) {
      if (positionals.length > 0) return data.flatMap((details) => detailLines(details));
      const rows = data as readonly Row[];
      const filterFlags = [...Object.keys(list.flags ?? {}), ...filters.map(({ flag }) => flag)];
      const isFiltered = filterFlags.some((flag) => flag !== "limit" && flags[flag] !== undefined);
      if (rows.length === 0 && emptyText !== undefined) return [emptyText];
      if (rows.length === 0) return [`No ${isFiltered ? `such ${list.name}` : `${list.name} yet`}. ${list.whenEmpty}`];
      return [...rows.map(list.line), ...(hasMore ? [`Older ones: add --starting-after ${rows.at(-1)?.id}.`] : [])];
    },
  });
}

/** The prefix of the ids of each list, and what such an id names. */
const KINDS: Readonly<Record<string, { group: ListDefinition<never>["group"]; kind: string }>> = {
  req: { group: "requests", kind: "a request" },
  evt: { group: "events", kind: "an event" },
  whd: { group: "deliveries", kind: "a delivery attempt" },
  vdt: { group: "verdicts", kind: "a verdict" },
  we: { group: "endpoints", kind: "a webhook endpoint" },
};

/** Names the command for an id of another list, because the sandbox would say only that it does not know the id. */
function refuseOtherKind(id: string, group: ListDefinition<never>["group"]): void {
  const other = KINDS[id.slice(0, id.indexOf("_"))];
  if (other !== undefined && other.group !== group)
    usageError(`${id} is the id of ${other.kind}. Show it with ${PROGRAM} ${other.group} ${id}.`);
}

const POLL_INTERVAL = 250;
const MOST_ROWS = 100;

/**
 * Prints the rows oldest first, and then each line that was not in the list before: a new row, or one that has changed.
 * Reads further pages until it finds a known row, so that a burst is complete. Compares lines instead of ids, because a
 * reset gives the same ids again. Leaves out rows without an id, such as an open verdict, whose text changes with time.
 */
async function follow<Row extends { id: string | null }>(
  page: (more?: object) => Promise<Page<Row>>,
  longest: object,
  write: (row: Row) => string,
): Promise<never> {
  let known = new Set<string>();
  for (let isFirst = true; ; isFirst = false) {
    const found: string[] = [];
    for (let more: object | undefined = isFirst ? {} : longest; more !== undefined; ) {
      const { data, has_more: hasMore = false } = await page(more);
      const lines = data.filter(({ id }) => id !== null).map(write);
      found.push(...lines);
      const isBurst = !isFirst && known.size > 0 && hasMore && !lines.some((line) => known.has(line));
      more = isBurst ? { ...longest, starting_after: data.at(-1)?.id } : undefined;
    }
    for (const line of found.toReversed()) if (!known.has(line)) print(line);
    known = new Set(found);
    // The reader of the output has gone, as in `--follow | head`.
    if (!process.stdout.writable) process.exit(exitCodes.ok);
    await realDelay(POLL_INTERVAL);
  }
}

/**
 * One line for each field. A text of several lines follows below its name, each line indented by two spaces and else
 * unchanged: other programs wrote the text, and it must not look like a line of this command. Leaves out fields without
 * a value.
 */
function detailLines(details: object, indent = ""): string[] {
  if (CURL in details) return String(details[CURL]).split("\n");
  return Object.entries(details)
    .filter(
      ([, value]) => value !== "" && value !== null && !(typeof value === "object" && Object.keys(value).length === 0),
    )
    .flatMap(([name, value]): string[] => {
      if (typeof value !== "object") return fieldLines(`${indent}${name}:`, String(value).split(/\r?\n/), indent);
      if (!Array.isArray(value)) return [`${indent}${name}:`, ...detailLines(value, `${indent}  `)];
      if (value.some((item) => typeof item === "object" || String(item).includes(" ")))
        return [`${indent}${name}:`, ...value.map((item) => `${indent}  - ${itemText(item)}`)];
      return [`${indent}${name}: ${value.join(", ")}`];
    });
}

const fieldLines = (name: string, lines: readonly string[], indent: string) =>
  lines.length === 1 ? [`${name} ${lines[0]}`] : [name, ...lines.map((line) => `${indent}  ${line}`)];

const itemText = (item: unknown) => (typeof item === "object" && item !== null ? objectText(item) : String(item));

const objectText = (item: object) =>
  Object.entries(item)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value) : value}`)
    .join(", ");

/** The row as the live stream sends it, with its time as a number. */
const timed = <Row extends { at: string }>(row: Row) => ({ ...row, at: parseTime(row.at) ?? 0 });

const CURL = "curl";

/** With --trace alone, the whole action of the trace: events, deliveries and calls back too. */
async function actionOf(control: Control, input: object): Promise<Page<TraceStep> | undefined> {
  const { trace, ...filters } = input as { trace?: string };
  if (trace === undefined || Object.values(filters).some((value) => value !== undefined)) return undefined;
  if (!IS_TRACE.test(trace)) return undefined;
  const { steps, has_more: hasMore } = await control.traces.get({ id: trace });
  if (hasMore) note(`The trace has further steps: the first ${steps.length} are listed.`);
  return { data: steps };
}

/** Any other text goes to the control API, whose error says what is wrong with it. */
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

/** Verdicts as parts of details: failures first, with how to fix them. */
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

export const deliveries = listCommand<LoggedAttempt>({
  name: "deliveries",
  summary: "list the newest delivery attempts, or show one with what was sent and received",
  group: "deliveries",
  whenEmpty: `Try ${PROGRAM} receive in another terminal, then ${PROGRAM} trigger payment.succeeded.`,
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

/** For a list without failures: the rules that passed, and the armed faults that have not fired yet. */
async function whyNoFailure(control: Control, input: object): Promise<string | undefined> {
  const { data } = await control.faults.list({ status: "armed" });
  const unfired = data.filter(({ fired }) => fired === 0).map(({ id }) => id);
  const waiting = unfired.length === 1 ? "is armed and has not fired yet" : "are armed and have not fired yet";
  const good = await passed(control, input);
  if (unfired.length === 0) return good;
  const none = (input as { verdict?: string }).verdict === "fail" ? "No failures." : "No verdicts.";
  return `${good ?? none} ${unfired.join(", ")} ${waiting}.`;
}

/** For a list without failures: the rules that passed, and those that are inconclusive. */
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
    failed: { description: "list only failures, as --verdict fail does" },
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
