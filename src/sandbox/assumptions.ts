// Checks the assumptions that options set, and applies them to the operations and to the list of facts.

import { isDeepStrictEqual } from "node:util";
import { catalogue } from "../areas/index.ts";
import type { ObjectSchema } from "../contracts/endpoint.ts";
import type { FactValue, ServiceFact } from "../contracts/fact.ts";
import { replayWindowFact } from "../http/idempotency.ts";
import { rateLimitFacts } from "../http/rate-limit.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { SandboxError, usageError } from "../kernel/errors.ts";
import { PROGRAM } from "../kernel/program-name.ts";
import { annotate, factOf } from "../schema/assumed.ts";
import { escapePointer } from "../schema/json-pointer.ts";
import { type TSchema, Type } from "../schema/shapes.ts";
import { fieldErrors } from "../schema/validator.ts";
import {
  type Assumptions,
  assumedValue,
  BOUNDS,
  boundFact,
  NO_ASSUMPTIONS,
  successStatusFact,
} from "../store/assumptions.ts";
import type { Operation } from "../store/operation-context.ts";
import { webhookTimeoutFact } from "../webhooks/dispatcher.ts";
import { retryScheduleFact, scheduleOf } from "../webhooks/retry-schedule.ts";
import type { Options } from "./options.ts";

/** Assumptions that other options set too, with the flags of these options. */
function valuesOfOptions({ rateLimit: { all }, retrySchedule, webhookTimeout }: Options) {
  const gaps = retrySchedule === undefined ? undefined : scheduleOf(retrySchedule).gaps.slice(1);
  return [
    ...(all === undefined
      ? []
      : [
          { fact: rateLimitFacts.limit, value: all.limit, flag: "--rate-limit" },
          { fact: rateLimitFacts.seconds, value: all.window / 1_000, flag: "--rate-limit" },
        ]),
    ...(gaps === undefined
      ? []
      : [{ fact: retryScheduleFact, value: gaps.map((gap) => gap / 1_000), flag: "--retry-schedule" }]),
    ...(webhookTimeout === undefined
      ? []
      : [{ fact: webhookTimeoutFact, value: webhookTimeout / 1_000, flag: "--webhook-timeout" }]),
  ];
}

/** The values that the options set. Rejects what cannot be set, and two options that set different values. */
export async function readAssumptions(
  options: Options,
  facts: () => Promise<readonly ServiceFact[]>,
): Promise<Assumptions> {
  const given = options.assumptions as Assumptions;
  if (Object.keys(given).length > 0) checkAssumptions(given, await facts());
  const others = valuesOfOptions(options);
  for (const { fact, value, flag } of others)
    if (given[fact.id] !== undefined && !isDeepStrictEqual(given[fact.id], value))
      usageError(
        `${fact.id} is set twice: to ${JSON.stringify(given[fact.id])} by the assumptions, ` +
          `and to ${JSON.stringify(value)} by ${flag}. Leave one out.`,
      );
  const all = { ...given, ...Object.fromEntries(others.map(({ fact, value }) => [fact.id, value])) };
  return Object.keys(all).length === 0 ? NO_ASSUMPTIONS : all;
}

function checkAssumptions(given: Assumptions, facts: readonly ServiceFact[]): void {
  const byId = new Map(facts.map((fact) => [fact.id, fact]));
  for (const [id, value] of Object.entries(given)) {
    const problem = problemOf(id, value, byId) ?? problemOfBounds(id, given, byId);
    // The pointer finds the line in merchant-sandbox.json.
    const details = { pointer: `/assumptions/${escapePointer(id)}` };
    if (problem !== undefined) throw new SandboxError(problem, "usage", { code: undefined, details });
  }
}

type Facts = ReadonlyMap<string, ServiceFact>;

function problemOf(id: string, value: unknown, facts: Facts): string | undefined {
  const fact = facts.get(id);
  if (!fact) {
    const settable = [...facts.values()].filter((one) => one.settable !== undefined).map((one) => one.id);
    const meant = didYouMean(id, settable) || didYouMean(id, facts.keys());
    return `There is no assumption ${id}.${meant} \`${PROGRAM} assumptions\` lists all.`;
  }
  if (!fact.settable) return `${id} cannot be set: ${whyNot(fact)}`;
  const [wrong] = fieldErrors(Type.Object({ [id]: fact.settable }), { [id]: value });
  return wrong && `${wrong.message} Default: ${JSON.stringify(fact.value)}.`;
}

function whyNot({ origin, kind, setting }: ServiceFact): string {
  if (setting !== undefined) return `use ${setting}.`;
  if (origin === "document") return "the service's documentation states it.";
  if (origin === "design") return "the sandbox deliberately differs from every service here.";
  if (kind === "behaviour") return "it is a rule that the sandbox implements in code.";
  if (kind.startsWith("error_"))
    return "only fault rules, bugs of the sandbox and requests that Node rejects cause this error.";
  return "it is spread over several schemas, so there is no single value to set.";
}

function problemOfBounds(id: string, given: Assumptions, facts: Facts): string | undefined {
  if (!BOUNDS.some((kind) => kind === facts.get(id)?.kind)) return undefined;
  const parameter = id.slice(0, id.lastIndexOf("."));
  const [usual, minimum, maximum] = BOUNDS.map((kind) => {
    const bound = `${parameter}.${kind}`;
    return Number(given[bound] ?? facts.get(bound)?.value);
  }) as [number, number, number];
  if (minimum <= usual && usual <= maximum) return undefined;
  return (
    `${parameter} would have a minimum of ${minimum}, a default of ${usual} and a maximum of ${maximum}: ` +
    "set the others too."
  );
}

/** The operations with the statuses, bounds and windows that were set. */
export const operationsUnder = (set: Assumptions): readonly Operation[] =>
  set === NO_ASSUMPTIONS ? catalogue : catalogue.map((operation) => operationUnder(operation, set));

function operationUnder(operation: Operation, set: Assumptions): Operation {
  const { id, status, replayWindow = Infinity, query } = operation;
  const usual = `${id}.query.limit.default`;
  const window = assumedValue(set, replayWindowFact) * 1_000;
  return {
    ...operation,
    status: assumedValue(set, successStatusFact(id, factOf(status))),
    query: boundedQuery(id, query, set),
    ...(set[usual] !== undefined && { usualQuery: { limit: set[usual] } }),
    // The response to a login is not replayed after its token has expired.
    replayWindow: Math.min(replayWindow, window),
  };
}

function boundedQuery(id: string, query: ObjectSchema, set: Assumptions): ObjectSchema {
  const limit = query.properties.limit as (TSchema & Record<(typeof BOUNDS)[number], number>) | undefined;
  if (limit === undefined) return query;
  const bounds = BOUNDS.map((kind) => [kind, assumedValue(set, boundFact(`${id}.query.limit`, kind, limit[kind]))]);
  const properties = { ...query.properties, limit: annotate(limit, Object.fromEntries(bounds)) };
  return { ...query, properties } as ObjectSchema;
}

/** The list of facts. A fact that was set has its new value, and the sandbox's own value as `default`. */
export const factsUnder = (facts: readonly ServiceFact[], set: Assumptions): readonly ServiceFact[] =>
  set === NO_ASSUMPTIONS
    ? facts
    : facts.map((fact) => {
        const value: FactValue | undefined = set[fact.id];
        return value === undefined ? fact : { ...fact, value, default: fact.value };
      });
