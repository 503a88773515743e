// Plays the calls of a recording to a sandbox in memory under the entries of a service file, and measures how far each
// reply is from the recorded one.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { catalogue, resources } from "../areas/index.ts";
import type { Traffic, TrafficCall } from "../compare/compare.ts";
import { distanceOf, type Reply } from "../compare/distance.ts";
import { type HeaderValues, isObject, pageIn, type RecordedDelivery, succeeded } from "../compare/recording.ts";
import { tryParseJson } from "../kernel/attempt.ts";
import { memoize } from "../kernel/bounded-cache.ts";
import { grouped } from "../kernel/grouped.ts";
import { prefixOf } from "../schema/shapes.ts";
import type { ServiceFile } from "../service/service-file.ts";
import { createSandbox, type Sandbox } from "./create.ts";

/** Calls of one kind that are played. More of the same show nothing new. */
const MOST_ALIKE = 6;

/** The distance of each reply and of each type of webhook from the recorded one, by its entry. */
export async function playRecording(
  traffic: Traffic,
  deliveries: readonly RecordedDelivery[],
  facts: ServiceFile["facts"],
  measure = distanceOf,
): Promise<Map<string, number>> {
  const folder = await mkdtemp(join(tmpdir(), "merchant-sandbox-"));
  const receiver = await openReceiver();
  try {
    const service = join(folder, "service.json");
    await writeFile(service, JSON.stringify({ facts }));
    const start = traffic.calls.find(({ exchange }) => !Number.isNaN(exchange.at))?.exchange.at;
    const sandbox = await createSandbox({
      service,
      life: "off",
      seed: 1,
      ...(start !== undefined && { clock: start }),
    });
    try {
      return await playAll(sandbox, traffic, deliveries, receiver, measure);
    } finally {
      await sandbox.close();
    }
  } finally {
    receiver.close();
    await rm(folder, { recursive: true, force: true });
  }
}

type Receiver = Awaited<ReturnType<typeof openReceiver>>;

/** Receives the webhooks of the sandbox, so that none is sent to an address of the recording. */
async function openReceiver() {
  const received: Reply[] = [];
  const server = createServer(async (incoming, outgoing) => {
    let text = "";
    for await (const piece of incoming.setEncoding("utf8")) text += piece;
    received.push({ status: 0, headers: incoming.headers as HeaderValues, body: tryParseJson(text) });
    outgoing.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close: () => server.close() };
}

async function playAll(
  sandbox: Sandbox,
  traffic: Traffic,
  deliveries: readonly RecordedDelivery[],
  receiver: Receiver,
  measure: typeof distanceOf,
) {
  const player = createPlayer(sandbox, traffic, receiver);
  const distances = new Map<string, number>();
  let now = Number.NaN;
  for (const call of withoutRepeats(traffic.calls)) {
    const { at, entry, status, responseHeaders, response } = call.exchange;
    if (at - now >= 1_000) await sandbox.clock.advance({ by: `${Math.floor((at - now) / 1_000)}s` });
    now = at;
    const played = await player.play(call);
    // Exports may leave out the headers, and then the sandbox's do not count.
    const headers = Object.keys(responseHeaders).length === 0 ? {} : played.headers;
    distances.set(entry, measure({ status, headers: responseHeaders, body: response }, { ...played, headers }));
  }
  await sandbox.clock.advance({ by: "1s" });
  const received = grouped(receiver.received, ({ body }) => typeOf(body));
  for (const [type, [first]] of grouped(deliveries, ({ event }) => typeOf(event))) {
    const { entry, headers, event } = first as RecordedDelivery;
    const [played] = received.get(type) ?? [];
    if (played) distances.set(entry, measure({ status: 0, headers, body: event }, played));
  }
  return distances;
}

const typeOf = (event: unknown) => (isObject(event) ? String(event.type) : "");

/** Leaves out calls beyond the first few with the same operation, parameters and outcome. */
function withoutRepeats(calls: readonly TrafficCall[]): TrafficCall[] {
  const counts = new Map<string, number>();
  return calls.filter(({ exchange, operation }) => {
    const { method, url, status, response, headers } = exchange;
    const code = isObject(response) && status >= 400 ? response.code : "";
    const kind = JSON.stringify([
      method,
      operation?.id,
      [...url.searchParams.keys()],
      status,
      code,
      Object.keys(headers).length,
    ]);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    return (counts.get(kind) as number) <= MOST_ALIKE;
  });
}

const UNKNOWN_KEY = "sk_test_unknown";
/** Headers that the recorded connection needed, or that the player sets. */
const OF_THE_CONNECTION =
  /^(:|sec-|proxy-|x-sandbox-|x-forwarded-|(authorization|host|connection|content-length|cookie|te|origin|referer|expect|upgrade|keep-alive)$|transfer-|accept-)/;
const NAMES_A_TOKEN = /token$/i;

/** Plays one call after another, with the ids, tokens and cursors of the sandbox in place of the recorded ones. */
function createPlayer(sandbox: Sandbox, { keys, ids }: Traffic, receiver: Receiver) {
  const values = new Map<string, string>();
  /** The records of the examples as they were before the first call, by id. */
  const examples = new Map<string, AnyRecord | undefined>();
  const inSandbox = (text: string) => values.get(text) ?? text;
  /** The API key of the merchant that has the records of the operation's example. */
  const keyOf = memoize(100, (id) => findKey(sandbox, id));

  /** Gives each recorded id of an operation a record of the sandbox in the state of the operation's example. */
  const giveRecord = async (operation: string, recorded: readonly string[]) => {
    const example = Object.values(exampleParams(operation));
    const isOne = recorded.length === 1 && example.length === 1;
    for (const [index, id] of recorded.entries()) {
      if (values.has(id) || !ids.has(id) || example[index] === undefined) continue;
      const own = example[index];
      const isUsed = examples.has(own);
      const record = isUsed ? examples.get(own) : await recordOf(sandbox, own);
      examples.set(own, record);
      values.set(id, isOne && isUsed && record ? await recordLike(sandbox, record) : own);
    }
  };

  const authorizationOf = async (
    authorization: string | undefined,
    operation: string | undefined,
  ): Promise<Record<string, string>> => {
    if (authorization === undefined && !keys.has(undefined)) return {};
    const [scheme, token = ""] = (authorization ?? "").split(" ");
    if (values.has(token)) return { authorization: `${scheme} ${inSandbox(token)}` };
    const isKnown = keys.has(authorization);
    if (!isKnown && !/^bearer \S+$/i.test(authorization ?? "")) return { authorization: authorization as string };
    return {
      authorization: `Bearer ${isKnown ? await keyOf(Object.values(exampleParams(operation ?? ""))[0] ?? "") : UNKNOWN_KEY}`,
    };
  };

  return {
    async play(call: TrafficCall): Promise<Reply> {
      const { exchange, path, operation } = call;
      if (operation) await giveRecord(operation.id, operation.params);
      const search = new URLSearchParams(
        [...exchange.url.searchParams].map(([name, value]) => [name, inSandbox(value)] as [string, string]),
      );
      const address = path.split("/").map(inSandbox).join("/");
      const body = bodyOf(call, inSandbox, receiver);
      const response = await fetch(`${sandbox.baseUrl}${address}${search.size === 0 ? "" : `?${search}`}`, {
        method: exchange.method,
        headers: {
          ...Object.fromEntries(Object.entries(exchange.headers).filter(([name]) => !OF_THE_CONNECTION.test(name))),
          ...(await authorizationOf(exchange.headers.authorization, operation?.id)),
          ...(exchange.status === 429 && { "x-sandbox-inject": "rate_limit; exhaust=true" }),
        },
        ...(body !== undefined && exchange.method !== "GET" && { body }),
      });
      const played = tryParseJson(await response.text());
      if (succeeded(exchange) && succeeded(response)) learn(values, exchange.response, played);
      return { status: response.status, headers: Object.fromEntries(response.headers), body: played };
    },
  };
}

/** The body with the sandbox's values; a login that succeeded has the credentials of the example. */
function bodyOf(
  { exchange: { text, body, status }, operation }: TrafficCall,
  inSandbox: (text: string) => string,
  receiver: Receiver,
): string | undefined {
  if (body === undefined) return text;
  const login = succeeded({ status }) && operation?.id === "merchants.login" ? exampleBody(operation.id) : {};
  return JSON.stringify(body, (name, value: unknown) => {
    if (typeof value !== "string") return value;
    if (login.password !== undefined && /mail|password/i.test(name))
      return /mail/i.test(name) ? login.email : login.password;
    return /^https?:/.test(value) ? receiver.url : inSandbox(value);
  });
}

/** Remembers which values of the sandbox stand for the recorded ones. */
function learn(values: Map<string, string>, recorded: unknown, played: unknown): void {
  const [items, others] = [pageIn(recorded)?.items ?? [recorded], pageIn(played)?.items ?? [played]];
  for (const [index, item] of items.entries())
    for (const name of [/^id$/, NAMES_A_TOKEN, /cursor$/i]) {
      const [from, to] = [textNamed(item, name), textNamed(others[index], name)];
      if (from !== undefined && to !== undefined) values.set(from, to);
    }
}

const exampleParams = (id: string): Record<string, string> =>
  catalogue.find((operation) => operation.id === id)?.exampleParams ?? {};
const exampleBody = (id: string) =>
  (catalogue.find((operation) => operation.id === id)?.example ?? {}) as { email?: string; password?: string };

/** The first text with this name, in the value or one of its objects. */
function textNamed(value: unknown, name: RegExp, depth = 3): string | undefined {
  if (!isObject(value) || depth === 0) return undefined;
  const own = Object.entries(value).find(([field, held]) => name.test(field) && typeof held === "string")?.[1];
  if (typeof own === "string") return own;
  return Object.values(value)
    .map((held) => textNamed(held, name, depth - 1))
    .find((text) => text !== undefined);
}

/** The kind of a record of the fixtures, by the prefix of its id. */
function kindOf(id: string): string | undefined {
  const prefix = (schema: object) => {
    const { id: field } = (schema as { properties?: Record<string, object> }).properties ?? {};
    return field && prefixOf(field);
  };
  return resources.find(({ schema }) => id.startsWith(prefix(schema) ?? " "))?.kind;
}

type AnyRecord = Awaited<ReturnType<Sandbox["records"]["get"]>>;

const recordOf = async ({ records }: Sandbox, id: string): Promise<AnyRecord | undefined> => {
  const kind = kindOf(id);
  return kind === undefined ? undefined : records.get({ kind, id });
};

async function findKey(sandbox: Sandbox, id: string): Promise<string> {
  const all = (await sandbox.merchants.list()).data;
  const owner = (await recordOf(sandbox, id))?.merchantId;
  return (all.find((merchant) => merchant.id === owner) ?? all[0])?.apiKeys[0] ?? UNKNOWN_KEY;
}

/** A new record of the kind, the owner and the status of another one. */
async function recordLike({ records }: Sandbox, { object: kind, merchantId, status }: AnyRecord): Promise<string> {
  return (await records.create({ kind, merchant: merchantId, ...(status !== undefined && { status }) })).id;
}
