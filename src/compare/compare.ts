// Compares recordings of the service with the facts on which the sandbox is built: recording → observations → one verdict per fact.

import type { FactBound, FactValue, Lenient, Observation, ServiceFact } from "../contracts/fact.ts";
import { bodyProblems } from "./conditions.ts";
import { type BaseUrl, callOf, findBase, pathBelow, routesOf, shapeOfPath, shownAddress } from "./find-base.ts";
import { type HeldCall, historyOf, keyHeaderOf, uniqueOf } from "./history.ts";
import { observeDesign } from "./observe-design.ts";
import { createKeyMemory, observeHeaders, observeKey, observeWindow } from "./observe-headers.ts";
import { observeRefusal, type Unexplained } from "./observe-refusals.ts";
import { observeSuccess } from "./observe-replies.ts";
import { observeRoutes } from "./observe-routes.ts";
import { observeWebhooks } from "./observe-webhooks.ts";
import { personalTexts } from "./personal-texts.ts";
import { type ComparedSandbox, type RecordedCall, type RecordedExchange, type Recording, succeeded } from "./recording.ts";
import type { StrayCall } from "./route-conditions.ts";
import { createShownTexts } from "./shown-code.ts";
import { createSightings, type Hint, knowledgeOf, type Rename, type Sightings } from "./sightings.ts";
import type { UnknownField } from "./unknown-fields.ts";

export type FactVerdict = "confirmed" | "contradicted" | "not_seen" | "against_document" | "by_design";

/** A value other than the fact's, and where it was seen. */
export interface SeenValue {
  value: FactValue;
  bound?: FactBound;
  count: number;
  lenient?: Lenient;
  operations: string[];
  /** The first few. */
  entries: string[];
}

export interface FactResult {
  fact: ServiceFact;
  verdict: FactVerdict;
  /** How often the fact was confirmed. */
  confirmed: number;
  seen: SeenValue[];
}

/** The parts of a comparison from which a service file is written. */
export interface Evidence {
  observations: readonly Observation[];
  hints: readonly Hint[];
  renames: readonly Rename[];
  unknownFields: readonly UnknownField[];
  /** How many objects of each name the recording shows. */
  objects: ReadonlyMap<string, number>;
}

export interface Comparison {
  /** The address below which the calls match, with its secrets masked; null if none does. */
  base: string | null;
  /** Calls of operations, and webhooks. */
  calls: number;
  webhooks: number;
  verdicts: FactResult[];
  /** Calls below the base that match no operation, by method and path. */
  unknownEndpoints: { endpoint: string; count: number }[];
  /** Refusals whose condition is not recognised. */
  unexplained: (Unexplained & { count: number })[];
  /** Entries that say nothing, by reason. */
  noise: Record<string, number>;
  evidence: Evidence;
}

export function compare(sandbox: ComparedSandbox, recording: Recording, given?: BaseUrl): Comparison {
  const routes = routesOf(sandbox.operations);
  const { useful, noise } = withoutNoise(recording.exchanges);
  const base = given ?? findBase(useful, routes);
  const below = useful.flatMap((exchange) => {
    const path = base && pathBelow(base, exchange);
    return path === undefined ? [] : [{ exchange, path, call: callOf(exchange, path, routes) }];
  });
  if (useful.length > below.length) noise["another address"] = useful.length - below.length;
  const calls = below.flatMap(({ call }) => call ?? []).toSorted((one, other) => one.at - other.at || 0);
  const shown = createShownTexts(personalTexts(recording, sandbox.facts));
  const sightings = createSightings(sandbox, shown);
  const strays = below.filter(({ call }) => call === undefined);
  const endpointOf = ({ exchange, path }: StrayCall) => `${exchange.method} ${shapeOfPath(path, routes, shown.isPersonal)}`;
  const unexplained = [...observe(calls, recording, sandbox, sightings), ...observeRoutes(strays, endpointOf, routes, sightings)];
  const unknown = strays.filter(({ exchange }) => succeeded(exchange));
  return {
    base: base ? shownAddress(base, shown.isPersonal) : null,
    calls: calls.length,
    webhooks: recording.deliveries.length,
    verdicts: judge(sandbox.facts, sightings.observations),
    unknownEndpoints: counted(unknown.map((call) => ({ endpoint: endpointOf(call) }))),
    unexplained: counted(unexplained),
    noise,
    evidence: { ...sightings, unknownFields: sightings.unknownFields.all(), objects: sightings.unknownFields.objects },
  };
}

/** Why an entry says nothing; undefined if it may. */
function noiseIn({ method, status, responseHeaders, response, isCached }: RecordedExchange): string | undefined {
  if (method === "OPTIONS" || method === "HEAD") return "a preflight or HEAD";
  if (responseHeaders["x-sandbox-fault"] !== undefined) return "a fault that a sandbox injected";
  if (status < 100) return "no response";
  if (isCached) return "a response from a browser's cache";
  if (status >= 300 && status < 400) return "a redirect or 304";
  if (status >= 500) return "an outage or an error of the service";
  if (response === undefined && /html|xml/.test(responseHeaders["content-type"] ?? "")) return "a page, not JSON";
  return undefined;
}

function withoutNoise(exchanges: readonly RecordedExchange[]) {
  const noise: Record<string, number> = {};
  const useful = exchanges.filter((exchange) => {
    const reason = noiseIn(exchange);
    if (reason !== undefined) noise[reason] = (noise[reason] ?? 0) + 1;
    return reason === undefined;
  });
  return { useful, noise };
}

function observe(calls: readonly RecordedCall[], { deliveries }: Recording, sandbox: ComparedSandbox, sightings: Sightings): Unexplained[] {
  const knowledge = knowledgeOf(calls);
  const history = historyOf(calls);
  const header = keyHeaderOf(calls, String(sightings.fact("idempotency.header")?.value).toLowerCase());
  const keys = createKeyMemory();
  const unexplained = calls.flatMap((call) => {
    const key = header === undefined || !call.operation.idempotent ? undefined : call.headers[header];
    const first = keys.first(call, key);
    const parameter: HeldCall["parameter"] = (own) => {
      const name = sightings.nameOf(`${call.operation.id}.query.${own}`, own);
      return { name, value: call.url.searchParams.get(name) };
    };
    const held: HeldCall = {
      call,
      parameter,
      history,
      knowledge,
      key,
      first,
      running: keys.running(call, key),
      problems: bodyProblems(call),
      unique: uniqueOf(call, sandbox),
    };
    if (succeeded(call)) observeSuccess(held, sightings);
    observeHeaders(call, sightings);
    observeDesign(call, sightings);
    observeKey(held, header, sightings);
    keys.store(call, key, first);
    return observeRefusal(held, sandbox, sightings) ?? [];
  });
  observeWindow(calls, sightings);
  observeWebhooks(deliveries, sandbox, calls, knowledge, sightings);
  return unexplained;
}

function judge(facts: readonly ServiceFact[], observations: readonly Observation[]): FactResult[] {
  const byFact = new Map<string, Observation[]>();
  for (const observation of observations) {
    const known = byFact.get(observation.fact);
    if (known) known.push(observation);
    else byFact.set(observation.fact, [observation]);
  }
  return facts.map((fact) => resultOf(fact, byFact.get(fact.id) ?? []));
}

function resultOf(fact: ServiceFact, observations: readonly Observation[]): FactResult {
  const confirmed = observations.reduce((sum, { agrees, count }) => sum + (agrees ? count : 0), 0);
  const seen = seenValues(observations.filter(({ agrees }) => !agrees));
  return { fact, verdict: verdictOf(fact, confirmed, seen.length), confirmed, seen };
}

function verdictOf({ origin }: ServiceFact, confirmed: number, others: number): FactVerdict {
  if (others === 0) return confirmed > 0 ? "confirmed" : "not_seen";
  return origin === "design" ? "by_design" : origin === "document" ? "against_document" : "contradicted";
}

const MOST_ENTRIES = 5;

function seenValues(observations: readonly Observation[]): SeenValue[] {
  const values = new Map<string, SeenValue>();
  for (const { seen, bound, lenient, operation, count, entries } of observations) {
    const name = JSON.stringify([seen, bound, lenient]);
    const made = { value: seen, count: 0, ...(bound && { bound }), ...(lenient && { lenient }), operations: [], entries: [] };
    const known: SeenValue = values.get(name) ?? made;
    known.count += count;
    if (operation !== undefined && !known.operations.includes(operation)) known.operations.push(operation);
    known.entries = [...new Set([...known.entries, ...entries])].slice(0, MOST_ENTRIES);
    values.set(name, known);
  }
  return [...values.values()].toSorted((one, other) => other.count - one.count);
}

/** The different items with their counts, the most frequent first. */
function counted<T extends object>(items: readonly T[]): (T & { count: number })[] {
  const found = new Map<string, T & { count: number }>();
  for (const item of items) {
    const name = JSON.stringify(item);
    found.set(name, { ...item, count: (found.get(name)?.count ?? 0) + 1 });
  }
  return [...found.values()].toSorted((one, other) => other.count - one.count);
}
