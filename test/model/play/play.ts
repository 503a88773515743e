// Plays a story on a sandbox and on the model, and holds every answer, event and delivery of the one against the other.

import type { Request } from "../call.ts";
import { serve } from "../serve.ts";
import { type Deed, follow, restart, sends, steer } from "../steer.ts";
import type { Expected } from "../way.ts";
import { type Attempt, begin, type Event, type World } from "../world.ts";
import { type Answer, differences, shown, unlike } from "./compare.ts";
import type { Ground } from "./grounds.ts";
import { arrivalsUnlike, logUnlike } from "./look.ts";
import type { Receivers } from "./receiver.ts";
import { type Act, spell } from "./spell.ts";
import type { Step } from "./steps.ts";

/** One line of what was done, for whoever wants to do it again. */
export type Line =
  | { line: "send"; request: Request; answer?: Answer | undefined; isLook: boolean }
  | { line: "restart"; now: number; during?: Request | undefined };

/** The sandbox and the model went different ways. */
export class Difference extends Error {
  readonly lines: Line[];
  readonly expected: string;

  constructor(differences: readonly string[], expected: string, lines: Line[]) {
    super(differences.join("\n"));
    this.lines = lines;
    this.expected = expected;
  }
}

export interface Run {
  world: World;
  ground: Ground;
  receivers: Receivers;
  /** Where endpoints of this run are. */
  address: string;
  lines: Line[];
  calls: Request[];
  count: number;
  /** Hears of each call that came to its answer. */
  served(expected: Expected): void;
  /** Hears of everything else that was done. */
  did(name: string): void;
  /** Lets a test falsify the model: what it says of a call. */
  twist(expected: Expected, request: Request): Expected;
}

export interface Beginning {
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

export const beginWorld = ({ now, rateLimit, bodies }: Beginning): World => begin(now, { ...rulesOf(rateLimit), bodies });

export async function takeStep(run: Run, step: Step): Promise<void> {
  run.count++;
  const act = spell({ ...run, receivers: run.address }, step);
  if (act) await perform(run, act);
}

async function perform(run: Run, act: Act): Promise<void> {
  if (act.act === "crash") {
    run.did(act.during ? "crash in a call" : "crash");
    return crash(run, act.during);
  }
  if (act.act === "deed") {
    run.did(act.deed.do === "arm" ? `fault ${act.deed.rule.action.type}` : act.deed.do);
    return doDeed(run, act.deed);
  }
  run.calls.push(act.request);
  const answer = await send(run, act.request);
  await judge(run, act.request, answer);
}

async function send(run: Run, request: Request, isLook = false): Promise<Answer | undefined> {
  const line: Line = { line: "send", request, isLook };
  run.lines.push(line);
  line.answer = await run.ground.call(request);
  return line.answer;
}

/** `replayed`: whether the answer may be the first one's or another's, because nobody knows how far the first one came. */
async function judge(run: Run, request: Request, answer: Answer | undefined, replayed = false): Promise<void> {
  const isShown = answer?.body !== undefined && answer.status < 500;
  const told = isShown ? answer.body : await newestEvent(run);
  const served = serve(run.world, request, told);
  if (replayed) served.headers["idempotent-replayed"] = answer?.headers["idempotent-replayed"] as string | undefined;
  const expected = run.twist(served, request);
  const { remember, status, spoilt } = expected;
  fail(run, differences(expected, answer), shown({ status, code: expected.code, headers: expected.headers, body: expected.body }));
  if (remember && status === remember.status && spoilt === undefined) remember.text = answer?.text;
  run.served(expected);
  await settle(run);
}

/** What an answer that was lost or spoilt would have shown, as far as the event that tells of it shows it. */
async function newestEvent(run: Run): Promise<unknown> {
  const answer = await run.ground.call(control("GET", "/events?limit=1"));
  return bodyOf<{ data?: { body: { data: unknown } }[] }>(answer).data?.[0]?.body.data;
}

export async function doDeed(run: Run, deed: Deed): Promise<void> {
  let answer: Answer | undefined;
  for (const { method, path, body } of sends(deed)) answer = await send(run, control(method, path, body));
  const outcome = steer(run.world, deed, answer?.body);
  const { code } = bodyOf<{ code?: string }>(answer);
  const found = answer?.status !== outcome.status || (outcome.code !== undefined && code !== outcome.code);
  fail(run, found ? [`status: must be ${outcome.status} ${outcome.code ?? ""}, is ${answer?.status} ${code ?? ""}`] : [], shown(outcome));
  if (outcome.body !== undefined) fail(run, unlike(outcome.body, answer?.body), shown(outcome));
  await settle(run, deed);
}

/** Waits for what is due, and looks at the events and attempts that there are since then. */
async function settle(run: Run, deed?: Deed): Promise<void> {
  const { world } = run;
  await lookAtEvents(run);
  const isOwed = [...world.merchants.values()].some(({ deliveries }) => deliveries.some(({ state }) => state === "pending"));
  const made = follow(world, deed);
  // Another clock lets answers be forgotten, which takes its time too.
  if (deed?.do !== "advance" && (isOwed || deed?.do === "set" || deed?.do === "thaw"))
    await send(run, control("POST", "/clock/advance", { by: "0s" }));
  if (isOwed || made.length > 0) await lookAtAttempts(run, made);
}

/** The newest events of all are those that the model made since the last look, and before them the newest that was known then. */
async function lookAtEvents(run: Run): Promise<void> {
  const events = [...run.world.merchants.values()].flatMap((merchant) => merchant.events).sort((one, other) => other.order - one.order);
  const fresh = events.filter(({ id }) => id === undefined);
  const { data: rows = [] } = bodyOf<{ data?: Row[] }>(await send(run, control("GET", `/events?limit=${fresh.length + 1}`), true));
  const told = rows.map(({ id, type, merchant, body }) => ({ id, type, merchant, body }));
  const expected = fresh.map((event, place) => {
    event.id = event.promised ?? String(rows[place]?.id);
    return shownEvent(event);
  });
  const known = events[fresh.length];
  fail(run, unlike([...expected, ...(known ? [shownEvent(known)] : [])], told, "events"), shown(expected));
  run.lines.pop();
}

type Row = Record<string, unknown>;

const shownEvent = ({ id, type, merchant, created, data }: Event) => ({
  id,
  type,
  merchant,
  body: { id, object: "event", type, created, livemode: false, merchantId: merchant, data },
});

const bodyOf = <B>(answer: Answer | undefined): B => (answer?.body ?? {}) as B;

async function lookAtAttempts(run: Run, made: Attempt[]): Promise<void> {
  const path = `/deliveries?limit=${Math.min(100, made.length + 1)}`;
  const rows: Row[] = [];
  for (let after = ""; rows.length < made.length + 1; after = `&starting_after=${rows.at(-1)?.id}`) {
    const answer = await send(run, control("GET", `${path}${after}`), true);
    const { data = [], has_more: hasMore } = bodyOf<{ data?: Row[]; has_more?: boolean }>(answer);
    rows.push(...data);
    if (!hasMore) break;
  }
  fail(run, logUnlike(made, rows.slice(0, made.length + 1), run.world), shown(made.map(({ delivery, ...rest }) => rest)));
  fail(run, arrivalsUnlike(made, run.receivers.taken()), "what the log says");
  while (run.lines.at(-1)?.line === "send" && (run.lines.at(-1) as { isLook: boolean }).isLook) run.lines.pop();
}

export const control = (method: string, path: string, body?: unknown): Request => ({
  method,
  path: `/_sandbox${path}`,
  headers: body === undefined ? {} : { "content-type": "application/json" },
  body: body === undefined ? undefined : JSON.stringify(body),
});

/** It stops where it stands, with a call under way or without, and begins anew. That call is then made again. */
async function crash(run: Run, during: Request | undefined): Promise<void> {
  run.lines.push({ line: "restart", now: run.world.now, during });
  const under = during && run.ground.call(during);
  await run.ground.crash(run.world.now);
  await under;
  restart(run.world);
  if (during) await judge(run, during, await send(run, during), true);
}

function fail(run: Run, differences: string[], expected: string): void {
  if (differences.length > 0) throw new Difference(differences, expected, run.lines);
}

/** In the end everything that is there is read, page by page and merchant by merchant. */
export async function readEverything(run: Run): Promise<void> {
  await doDeed(run, { do: "disarm" });
  for (const { id, records } of [...run.world.merchants.values()]) {
    await doDeed(run, { do: "window", merchant: id, limit: 1_000_000, remaining: 1_000_000 });
    if (records.get("merchant")?.[0]?.status === "suspended")
      await doDeed(run, { do: "move", kind: "merchant", merchant: id, id, status: "active" });
    await readUnlisted(run, id);
    const [key] = [...run.world.keys].find(([, { merchant, expires }]) => merchant === id && expires === undefined) ?? [];
    if (key !== undefined) for (const path of READ) await readAll(run, path, key);
  }
}

/** Kinds that no operation lists: the control plane shows what it is asked to leave as it is. */
const UNLISTED = ["booking", "payroll", "remittance", "gov_payment", "pricing_rule", "payout_method", "product_variant"] as const;

/** Those of them that a call made, or was about. */
async function readUnlisted(run: Run, merchant: string): Promise<void> {
  const paths = run.calls.map(({ path }) => path);
  for (const kind of UNLISTED)
    for (const { id, status } of [...(run.world.merchants.get(merchant)?.records.get(kind) ?? [])])
      if (/_[0-9A-Za-z]{16}$/.test(id) || paths.some((path) => path.includes(`/${id}/`)))
        await doDeed(run, { do: "move", kind, merchant, id, status: String(status) });
}

const LISTS = [
  ...["payments", "payouts", "marketplace/orders", "employees/disciplinary", "employees/appraisals", "memberships/renewals"],
  ...["integrations/sync-logs", "webhooks", "webhook-deliveries"],
];
const READ = [...LISTS.map((path) => `/v1/${path}?limit=100`), "/v1/merchants/me", "/v1/events/organizer", "/v1/statutory/settings"];

async function readAll(run: Run, path: string, key: string): Promise<void> {
  for (let next: string | undefined = path; next !== undefined; ) {
    const request: Request = { method: "GET", path: next, headers: { authorization: `Bearer ${key}` }, body: undefined };
    const answer = await send(run, request);
    const expected = run.twist(serve(run.world, request, answer?.body), request);
    fail(run, differences(expected, answer), shown(expected.body));
    const { has_more: hasMore, data } = bodyOf<{ has_more?: boolean; data?: Row[] }>(answer);
    next = hasMore ? `${path}&starting_after=${data?.at(-1)?.id}` : undefined;
  }
}
