// Compares recordings of the service with the sandbox's facts: recording → observations → one verdict per fact.

import type { FactBound, FactValue, Lenient, Observation, ServiceFact } from "../contracts/fact.ts";
import { grouped } from "../kernel/grouped.ts";
import { bodyProblems } from "./conditions.ts";
import { type BaseUrl, callOf, findBase, pathBelow, routesOf, shapeOfPath, shownAddress } from "./find-base.ts";
import { type CallContext, historyOf, keyHeaderOf } from "./history.ts";
import { createObservationLog, type Knowledge, knowledgeOf, type ObservationLog } from "./observations.ts";
import { createKeyMemory, observeHeaders, observeKey, observeRetryAfter, observeWindow } from "./observe-headers.ts";
import { observeRefusal, observeRoutes, type StrayCall, type Unexplained } from "./observe-refusals.ts";
import { observeSuccess } from "./observe-replies.ts";
import { observeWebhooks } from "./observe-webhooks.ts";
import { readCall } from "./read-replies.ts";
import {
  type ComparedSandbox,
  MOST_ENTRIES,
  type RecordedCall,
  type RecordedExchange,
  type Recording,
  succeeded,
} from "./recording.ts";
import { createShownTexts, personalTexts } from "./shown-texts.ts";
import { suggestedAssumptions } from "./suggested-assumptions.ts";

export type FactVerdict = "confirmed" | "contradicted" | "not_seen" | "against_document";

/** A value that differs from the fact's, and where it was seen. */
export interface SeenValue {
  value: FactValue;
  bound?: FactBound;
  count: number;
  lenient?: Lenient;
  operations: string[];
  /** The first few entries with the value. */
  entries: string[];
}

export type FactResult = ReturnType<typeof resultOf>;

export type Comparison = ReturnType<typeof compare>;

export function compare(whole: ComparedSandbox, recording: Recording, given?: BaseUrl) {
  // Facts by design are left out, because the sandbox differs in them from every real service.
  const sandbox = { ...whole, facts: whole.facts.filter(({ origin }) => origin !== "design") };
  const routes = routesOf(sandbox.operations);
  const byReason = grouped(recording.exchanges, noiseIn);
  const useful = byReason.get(undefined) ?? [];
  byReason.delete(undefined);
  const noise = Object.fromEntries([...byReason].map(([reason, { length }]) => [String(reason), length]));
  const base = given ?? findBase(useful, routes);
  const below = useful.flatMap((exchange) => {
    const path = base && pathBelow(base, exchange);
    return path === undefined ? [] : [{ exchange, path, call: callOf(exchange, path, routes) }];
  });
  if (useful.length > below.length) noise["another address"] = useful.length - below.length;
  const shown = createShownTexts(personalTexts(recording, whole.facts));
  const log = createObservationLog(sandbox, shown);
  const matched = below.flatMap(({ call }) => call ?? []).toSorted((one, other) => one.at - other.at || 0);
  const calls = matched.map((call) => readCall(log, call));
  const strays = below
    .filter(({ call }) => call === undefined)
    .map(
      (one): StrayCall => ({
        ...one,
        endpoint: `${one.exchange.method} ${shapeOfPath(one.path, routes, shown.isPersonal)}`,
      }),
    );
  const knowledge = knowledgeOf(calls);
  const unexplained = [...observe(calls, recording, sandbox, log, knowledge), ...observeRoutes(strays, routes, log)];
  const unknown = strays.filter(({ exchange }) => succeeded(exchange));
  const observed = grouped(log.observations, ({ fact }) => fact);
  const verdicts = sandbox.facts.map((fact) => resultOf(fact, observed.get(fact.id) ?? []));
  return {
    /** The base address that was given or found, with its secrets masked; null if there is none. */
    base: base ? shownAddress(base, shown.isPersonal) : null,
    calls: calls.length,
    webhooks: recording.deliveries.length,
    verdicts,
    /** The recorded values of settable assumptions, in the form of the option `assumptions`. */
    assumptions: suggestedAssumptions(verdicts, log.hints),
    /**
     * The conventions in which the service differs everywhere, such as snake_case. Fields of such replies are not
     * compared one by one.
     */
    shapes: log.shapes.all(),
    /** Calls below the base that match no operation, by method and path. */
    unknownEndpoints: counted(unknown.map(({ endpoint }) => ({ endpoint }))),
    /** Errors that no rule recognises. */
    unexplained: counted(unexplained),
    /** Ignored entries, counted by reason. */
    noise,
  };
}

/** Why an entry is ignored; undefined if the entry is compared. */
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

function observe(
  calls: readonly RecordedCall[],
  { deliveries }: Recording,
  sandbox: ComparedSandbox,
  log: ObservationLog,
  knowledge: Knowledge,
): Unexplained[] {
  const history = historyOf(calls, sandbox, knowledge);
  const header = keyHeaderOf(calls, String(log.fact("idempotency.header")?.value).toLowerCase());
  const keys = createKeyMemory();
  const unexplained = calls.flatMap((call) => {
    const key = header === undefined || !call.operation.idempotent ? undefined : call.headers[header];
    const first = keys.first(call, key);
    const context: CallContext = {
      call,
      history,
      knowledge,
      key,
      first,
      running: keys.running(call, key),
      problems: bodyProblems(call),
    };
    if (succeeded(call)) observeSuccess(context, log);
    observeHeaders(call, log);
    observeKey(context, header, log);
    keys.store(call, key, first);
    return observeRefusal(context, sandbox, log) ?? [];
  });
  observeWindow(calls, log);
  observeRetryAfter(calls, log);
  observeWebhooks(deliveries, sandbox, calls, knowledge, log);
  return unexplained;
}

function resultOf(fact: ServiceFact, observations: readonly Observation[]) {
  const confirmed = observations.reduce((sum, { agrees, count }) => sum + (agrees ? count : 0), 0);
  const seen = seenValues(observations.filter(({ agrees }) => !agrees));
  return { fact, verdict: verdictOf(fact, confirmed, seen.length), confirmed, seen };
}

function verdictOf({ origin, kind }: ServiceFact, confirmed: number, others: number): FactVerdict {
  if (others === 0) return confirmed > 0 ? "confirmed" : "not_seen";
  // The document lists fields, but does not say that a reply has no others.
  return origin === "document" && kind !== "other_fields" ? "against_document" : "contradicted";
}

function seenValues(observations: readonly Observation[]): SeenValue[] {
  const groups = grouped(observations, ({ seen, bound, lenient }) => JSON.stringify([seen, bound, lenient]));
  const values = [...groups.values()].map((group): SeenValue => {
    const { seen, bound, lenient } = group[0] as Observation;
    return {
      value: seen,
      count: group.reduce((sum, { count }) => sum + count, 0),
      ...(bound && { bound }),
      ...(lenient && { lenient }),
      operations: [...new Set(group.flatMap(({ operation }) => operation ?? []))],
      entries: [...new Set(group.flatMap(({ entries }) => entries))].slice(0, MOST_ENTRIES),
    };
  });
  return values.filter((one) => isTightest(one, values)).toSorted((one, other) => other.count - one.count);
}

/** Whether no other value bounds the fact more tightly from the same side. */
const isTightest = ({ value, bound }: SeenValue, all: readonly SeenValue[]): boolean =>
  bound === undefined ||
  all.every(
    (one) =>
      one.bound !== bound ||
      (bound === "at_least" ? Number(one.value) <= Number(value) : Number(one.value) >= Number(value)),
  );

/** The different items with their counts, the most frequent first. */
const counted = <T extends object>(items: readonly T[]): (T & { count: number })[] =>
  [...grouped(items, (item) => JSON.stringify(item)).values()]
    .map((group) => ({ ...(group[0] as T), count: group.length }))
    .toSorted((one, other) => other.count - one.count);
