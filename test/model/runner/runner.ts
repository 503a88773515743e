// The runner: executes commands on a sandbox and on the model, and compares every response, event and delivery.

import { violationsIn } from "../../support/world-file.ts";
import type { Request } from "../call.ts";
import type { Expected } from "../call-outcome.ts";
import {
  applyControlCommand,
  type ControlCommand,
  controlCommands,
  deliverAfter,
  restart,
} from "../control-commands.ts";
import { handleRequest } from "../request-pipeline.ts";
import { type Attempt, createWorld, type Event, loggedMerchants, type World } from "../world.ts";
import type { Command } from "./commands.ts";
import { diffArrivals, diffDeliveryLog } from "./compare-deliveries.ts";
import { diff, diffResponse, format, type HttpResponse } from "./compare-responses.ts";
import { type RenderedCommand, renderCommand } from "./render-command.ts";
import type { Target } from "./targets.ts";
import type { Receivers } from "./webhook-receivers.ts";

/** Thrown when the sandbox differs from the model. */
export class Difference extends Error {
  readonly expected: string;

  constructor(differences: readonly string[], expected: string) {
    super(differences.join("\n"));
    this.expected = expected;
  }
}

export interface Run {
  world: World;
  target: Target;
  receivers: Receivers;
  /** Base address of the receivers. */
  address: string;
  /** Lines for the report: every request so far with the status of its response, and every restart. */
  lines: string[];
  calls: Request[];
  count: number;
  /** Called with the expected response to each call. */
  onCall(expected: Expected): void;
  /** Changes what the model expects, so that a test can introduce a difference. */
  mutate(expected: Expected, request: Request): Expected;
}

export interface InitialState {
  now: number;
  rateLimit: string;
  bodies: "checked" | "open";
}

const UNLIMITED = { limit: 1_000_000_000, window: 60_000 };

export function rulesOf(rateLimit: string) {
  if (rateLimit === "none") return UNLIMITED;
  const [limit = "", seconds = ""] = rateLimit.split("/");
  return { limit: Number(limit), window: Number(seconds.slice(0, -1)) * 1_000 };
}

export const initialWorld = ({ now, rateLimit, bodies }: InitialState): World =>
  createWorld(now, { ...rulesOf(rateLimit), bodies });

export async function runCommand(run: Run, command: Command): Promise<void> {
  run.count++;
  const rendered = renderCommand({ ...run, receivers: run.address }, command);
  if (rendered) await execute(run, rendered);
}

async function execute(run: Run, rendered: RenderedCommand): Promise<void> {
  if (rendered.kind === "crash") return crash(run, rendered.during);
  if (rendered.kind === "controlCommand") return runControlCommand(run, rendered.controlCommand);
  run.calls.push(rendered.request);
  const response = await send(run, rendered.request);
  await checkCall(run, rendered.request, response);
}

async function send(run: Run, request: Request): Promise<HttpResponse | undefined> {
  const response = await run.target.call(request);
  const { method, path, headers, body = "" } = request;
  run.lines.push(`${method} ${path} ${JSON.stringify(headers)} ${body} -> ${response?.status ?? "no response"}`);
  return response;
}

/** With `replayed`, the response may or may not be a replay: the crash came before or after the call took effect. */
async function checkCall(
  run: Run,
  request: Request,
  response: HttpResponse | undefined,
  replayed = false,
): Promise<void> {
  const isShown = response?.body !== undefined && response.status < 500;
  const observed = isShown ? response.body : await recordOfNewestRequest(run);
  const served = handleRequest(run.world, request, observed);
  if (replayed) served.headers["idempotent-replayed"] = response?.headers["idempotent-replayed"] as string | undefined;
  const expected = run.mutate(served, request);
  const { idempotencyReply, status, corruption } = expected;
  fail(
    diffResponse(expected, response),
    format({ status, code: expected.code, headers: expected.headers, body: expected.body }),
  );
  if (idempotencyReply && status === idempotencyReply.status && corruption === undefined)
    idempotencyReply.text = response?.text;
  run.onCall(expected);
  await checkSideEffects(run);
}

/**
 * The record of a lost or corrupted response. It is in the first event of the request. Later events of the request are
 * about other records.
 */
async function recordOfNewestRequest(run: Run): Promise<unknown> {
  const response = await run.target.call(control("GET", "/events?limit=100"));
  const { data = [] } = bodyOf<{ data?: { request: string | null; body: { data: unknown } }[] }>(response);
  return data.findLast(({ request }) => request === data[0]?.request)?.body.data;
}

async function runControlCommand(run: Run, controlCommand: ControlCommand): Promise<void> {
  let response: HttpResponse | undefined;
  for (const { method, path, body } of controlCommand.requests) response = await send(run, control(method, path, body));
  const outcome = applyControlCommand(run.world, controlCommand, response?.body);
  const { code } = bodyOf<{ code?: string }>(response);
  const found = response?.status !== outcome.status || (outcome.code !== undefined && code !== outcome.code);
  fail(
    found ? [`status: must be ${outcome.status} ${outcome.code ?? ""}, is ${response?.status} ${code ?? ""}`] : [],
    format(outcome),
  );
  if (outcome.body !== undefined) fail(diff(outcome.body, response?.body), format(outcome));
  await checkSideEffects(run, controlCommand);
}

/** Delivers due webhooks, then compares new events and attempts. */
async function checkSideEffects(run: Run, controlCommand?: ControlCommand): Promise<void> {
  const { world } = run;
  await checkEvents(run);
  const hasPending = [...world.merchants.values()].some(({ deliveries }) =>
    deliveries.some(({ state }) => state === "pending"),
  );
  const made = deliverAfter(world, controlCommand);
  // Setting the clock also deletes expired replies in the background, which takes time.
  if (controlCommand?.advance === undefined && (hasPending || controlCommand?.setsClock))
    await send(run, control("POST", "/clock/advance", { by: "0s" }));
  if (hasPending || made.length > 0) await checkDeliveryLog(run, made);
}

/** The log must show the model's new events first, and then the newest event that was known before. */
async function checkEvents(run: Run): Promise<void> {
  const events = loggedMerchants(run.world)
    .flatMap((merchant) => merchant.events)
    .sort((one, other) => other.order - one.order);
  const fresh = events.filter(({ id }) => id === undefined);
  const { data: rows = [] } = bodyOf<{ data?: Row[] }>(
    await run.target.call(control("GET", `/events?limit=${fresh.length + 1}`)),
  );
  const actual = rows.map(({ id, type, merchant, body }) => ({ id, type, merchant, body }));
  const expected = fresh.map((event, place) => {
    event.id = event.promised ?? String(rows[place]?.id);
    return eventRow(event);
  });
  const known = events[fresh.length];
  fail(diff([...expected, ...(known ? [eventRow(known)] : [])], actual, "events"), format(expected));
}

type Row = Record<string, unknown>;

const eventRow = ({ id, type, merchant, created, data }: Event) => ({
  id,
  type,
  merchant,
  body: { id, object: "event", type, created, livemode: false, merchantId: merchant, data },
});

const bodyOf = <B>(response: HttpResponse | undefined): B => (response?.body ?? {}) as B;

async function checkDeliveryLog(run: Run, made: Attempt[]): Promise<void> {
  const path = `/deliveries?limit=${Math.min(100, made.length + 1)}`;
  const rows: Row[] = [];
  for (let after = ""; rows.length < made.length + 1; after = `&starting_after=${rows.at(-1)?.id}`) {
    const response = await run.target.call(control("GET", `${path}${after}`));
    const { data = [], has_more: hasMore } = bodyOf<{ data?: Row[]; has_more?: boolean }>(response);
    rows.push(...data);
    if (!hasMore) break;
  }
  fail(
    diffDeliveryLog(made, rows.slice(0, made.length + 1), run.world),
    format(made.map(({ delivery, ...rest }) => rest)),
  );
  fail(diffArrivals(made, run.receivers.taken()), "the webhooks of the attempts in the log");
}

export const control = (method: string, path: string, body?: unknown): Request => ({
  method,
  path: `/_sandbox${path}`,
  headers: body === undefined ? {} : { "content-type": "application/json" },
  body: body === undefined ? undefined : JSON.stringify(body),
});

/** Crashes and restarts the sandbox. `during` is in flight at the crash, and is sent again after the restart. */
async function crash(run: Run, during: Request | undefined): Promise<void> {
  run.lines.push(during ? `kill during ${during.method} ${during.path}, and restart` : "kill, and restart");
  const under = during && run.target.call(during);
  await run.target.crash(run.world.now);
  await under;
  restart(run.world);
  if (during) await checkCall(run, during, await send(run, during), true);
}

function fail(differences: string[], expected: string): void {
  if (differences.length > 0) throw new Difference(differences, expected);
}

/** Reads every record at the end of a run, page by page and merchant by merchant. */
export async function readAllRecords(run: Run): Promise<void> {
  await runControlCommand(run, controlCommands.disarm());
  for (const { id, records } of [...run.world.merchants.values()]) {
    await runControlCommand(run, controlCommands.window(id, { limit: 1_000_000, remaining: 1_000_000 }));
    if (records.get("merchant")?.[0]?.status === "suspended")
      await runControlCommand(run, controlCommands.move("merchant", id, id, "active"));
    await readUnlisted(run, id);
    const [key] =
      [...run.world.keys].find(([, { merchant, expires }]) => merchant === id && expires === undefined) ?? [];
    if (key !== undefined) for (const path of READ) await readAll(run, path, key);
  }
}

/** Kinds without a list operation. The runner reads such a record by moving it to its current state. */
const UNLISTED = [
  "booking",
  "payroll",
  "remittance",
  "gov_payment",
  "pricing_rule",
  "payout_method",
  "product_variant",
] as const;

/** Checks the unlisted records that calls created or addressed. */
async function readUnlisted(run: Run, merchant: string): Promise<void> {
  const paths = run.calls.map(({ path }) => path);
  for (const kind of UNLISTED)
    for (const { id, status } of [...(run.world.merchants.get(merchant)?.records.get(kind) ?? [])])
      if (/_[0-9A-Za-z]{16}$/.test(id) || paths.some((path) => path.includes(`/${id}/`)))
        await runControlCommand(run, controlCommands.move(kind, merchant, id, String(status)));
}

/** After all commands, the sandbox's own checker must find the records of each merchant consistent. */
export async function checkWorlds(run: Run): Promise<void> {
  const saved = bodyOf<{ file: string }>(await run.target.call(control("PUT", "/snapshots/end")));
  fail(violationsIn(saved.file, run.world.now / 1_000), "consistent records");
}

const LISTS = [
  ...[
    "payments",
    "payouts",
    "marketplace/orders",
    "employees/disciplinary",
    "employees/appraisals",
    "memberships/renewals",
  ],
  ...["integrations/sync-logs", "webhooks", "webhook-deliveries"],
];
const READ = [
  ...LISTS.map((path) => `/v1/${path}?limit=100`),
  "/v1/merchants/me",
  "/v1/events/organizer",
  "/v1/statutory/settings",
];

async function readAll(run: Run, path: string, key: string): Promise<void> {
  for (let next: string | undefined = path; next !== undefined; ) {
    const request: Request = {
      method: "GET",
      path: next,
      headers: { authorization: `Bearer ${key}` },
      body: undefined,
    };
    const response = await send(run, request);
    const expected = run.mutate(handleRequest(run.world, request, response?.body), request);
    fail(diffResponse(expected, response), format(expected.body));
    const { has_more: hasMore, data } = bodyOf<{ has_more?: boolean; data?: Row[] }>(response);
    next = hasMore ? `${path}&starting_after=${data?.at(-1)?.id}` : undefined;
  }
}
