// Checks the effects of a run: deliveries, records, scenarios and fault rules that fired.

import type { DeliveryMatch, ExpectationOf, NearMiss } from "../contracts/expectations.ts";
import type { RecordBase, Resource } from "../contracts/resource.ts";
import type { ScenarioState } from "../contracts/scenario.ts";
import { plural } from "../kernel/text.ts";
import { type Count, compareCount, describeCount, matchesWildcard } from "../schema/conditions.ts";
import { valueAt } from "../schema/json-pointer.ts";
import type { LoggedDelivery, RunSummary } from "../store/request-log/run-summary.ts";
import {
  type Check,
  type CheckResult,
  conditionResults,
  MAX_EVIDENCE,
  nearestOf,
  result,
  resultOfCount,
} from "./check-result.ts";

const FINAL = new Set(["succeeded", "failed", "cancelled"]);

export function checkDeliveries(
  log: Pick<RunSummary, "deliveries" | "lastError">,
  { match, count, attempts, final }: ExpectationOf<"deliveries">,
  merchant: string | undefined,
): Check {
  return () => {
    const found = log.deliveries(merchant ?? match.merchant).filter((delivery) => matchesDelivery(match, delivery));
    const ids = found.map(({ event, endpoint }) => `${event} to ${endpoint}`);
    const counted = resultOfCount(ids, count, ["delivery", "deliveries"]);
    if (counted.verdict !== "pass") return counted;
    const wrong = found.flatMap((delivery) => {
      const problem = problemOf(delivery, attempts, final);
      return problem === undefined ? [] : [{ delivery, ...problem }];
    });
    const [first] = wrong;
    if (!first) return counted;
    const open = wrong.every((one) => one.open);
    const message = `${wrong.length} of ${found.length}: ${first.message}${lastAttemptOf(log, first.delivery)}`;
    return { ...counted, verdict: "fail", message, open };
  };
}

/**
 * The error of a delivery's newest attempt, or that it had none yet, as a sentence after a space. Empty if the attempt
 * did not fail.
 */
function lastAttemptOf(log: Pick<RunSummary, "lastError">, delivery: LoggedDelivery): string {
  if (delivery.attempts === 0) return " It had no attempt yet.";
  const error = log.lastError(delivery);
  return error === undefined ? "" : ` Last attempt: ${error}`;
}

function matchesDelivery({ event, endpoint, merchant }: DeliveryMatch, delivery: LoggedDelivery): boolean {
  return (
    (event === undefined ||
      [event].flat().some((name) => delivery.event === name || matchesWildcard(delivery.type, name))) &&
    (endpoint === undefined || delivery.endpoint === endpoint || delivery.url === endpoint) &&
    (merchant === undefined || delivery.merchant === merchant)
  );
}

/**
 * Compares how often the receiver acted with the number of events that it accepted. On an event that it did not accept,
 * the receiver may also have acted once, before it failed.
 */
export function checkEffects(
  log: Pick<RunSummary, "deliveries">,
  { match = {}, made }: ExpectationOf<"effects">,
  merchant: string | undefined,
  hasAudited: () => boolean,
): Check {
  return () => {
    const { event, ...others } = match;
    const deliveries = log.deliveries(merchant ?? match.merchant).filter((one) => matchesDelivery(others, one));
    return compareEffects({ deliveries, event, hasAudited: hasAudited() }, made);
  };
}

interface DeliveredEvents {
  /** All deliveries to the receiver since the first count of its effects. */
  deliveries: readonly LoggedDelivery[];
  /** The types or ids of the events on which the receiver acts (default: all, if they are of one type). */
  event?: string | string[] | undefined;
  /** The ids of events that were delivered before as well: the receiver need not act on them again. */
  known?: ReadonlySet<string>;
  /** Whether the receiver was audited. The events of an audit are in no log. */
  hasAudited?: boolean;
}

export function compareEffects(
  { deliveries, event, known, hasAudited = false }: DeliveredEvents,
  made: number,
): CheckResult {
  const eventsOf = (some: readonly LoggedDelivery[]) => [...new Set(some.map((delivery) => delivery.event))];
  const tried = deliveries.filter(({ attempts }) => attempts > 0);
  const chosen = tried.filter((delivery) => matchesDelivery({ event }, delivery));
  const delivered = eventsOf(chosen);
  const accepted = eventsOf(chosen.filter(({ state }) => state === "succeeded")).filter((id) => !known?.has(id));
  const seen = { found: made, evidence: delivered.slice(-MAX_EVIDENCE), counted: delivered };
  const text = `The receiver acted ${plural(made, "time")} on ${plural(delivered.length, "event")}`;
  if (made > delivered.length) {
    const others = made <= eventsOf(tried).length ? otherTypes(tried, chosen, event) : [];
    const reasons = [
      "it acts more than once on the same event",
      ...(others.length > 0 ? [`it also acts on ${others.join(", ")}, which ${isOrAre(others)} not named`] : []),
      ...(hasAudited ? ["the count includes what it did in an audit"] : []),
    ];
    return result("fail", `${text}: ${reasons.join(", or ")}.`, seen);
  }
  if (delivered.length === 0)
    return result("inconclusive", "No matching event was delivered.", { ...seen, open: true });
  const types = [...new Set(chosen.map(({ type }) => type))];
  if (types.length > 1 && event === undefined)
    return result(
      "inconclusive",
      `${text} of the types ${types.join(", ")}. Set event to the types that it acts on, or to "*" for all.`,
      { ...seen, open: true },
    );
  if (made < accepted.length)
    return result("fail", `${text}, but accepted ${accepted.length}: at least one accepted event had no effect.`, {
      ...seen,
      open: true,
    });
  return result("pass", `${text}.`, seen);
}

const isOrAre = (names: readonly string[]) => (names.length === 1 ? "is" : "are");

/**
 * The types of the deliveries that were not chosen. Empty if events were chosen by id, because types do not matter
 * then.
 */
function otherTypes(
  tried: readonly LoggedDelivery[],
  chosen: readonly LoggedDelivery[],
  event: string | string[] | undefined,
): string[] {
  const names = [event ?? []].flat();
  if (chosen.some((delivery) => names.includes(delivery.event))) return [];
  return [...new Set(tried.filter((delivery) => !chosen.includes(delivery)).map(({ type }) => type))];
}

/** Why a delivery does not meet the expectation, and whether it still could; undefined if it does. */
function problemOf(
  { event, endpoint, state, attempts }: LoggedDelivery,
  expected: Count | undefined,
  final: string | undefined,
) {
  const about = `${event} to ${endpoint}`;
  const isOver = FINAL.has(state);
  const compared = expected ? compareCount(expected, attempts) : "right";
  if (compared !== "right")
    return {
      message: `${about} had ${plural(attempts, "attempt")}; expected ${describeCount(expected ?? {})}.`,
      open: compared === "too few" && !isOver,
    };
  if (final !== undefined && state !== final)
    return { message: `${about} is ${state}; expected ${final}.`, open: !isOver };
  return undefined;
}

export function checkRecords(
  all: () => Iterable<RecordBase>,
  { kind }: Resource,
  { where = {}, count }: ExpectationOf<"records">,
): Check {
  const check = (record: RecordBase) => conditionResults("", where, (pointer) => valueAt(record, pointer));
  return () => {
    const records = [...all()];
    const found = records.filter((record) => check(record).every(({ met }) => met)).map(({ id }) => id);
    const near = (): NearMiss[] =>
      nearestOf(records, check, ({ id, status }) => ({ id, what: [kind, status].join(" ").trim() }));
    return resultOfCount(found, count, ["record", "records"], near);
  };
}

/**
 * Without an expected score, the scenario must pass, and an inconclusive verdict may still change. A scenario with a
 * rule on receivers holds only after the receivers have had time to act on every delivery.
 */
export function checkScenario(
  find: () => ScenarioState | undefined,
  { name, score }: ExpectationOf<"scenario">,
  { isWatching }: { isWatching(merchant?: string): boolean },
): Check {
  return (): CheckResult => {
    const state = find();
    if (!state) return result("inconclusive", `${name} is no longer armed.`);
    const { verdict, message, score: found, merchant, expectations } = state;
    const text = `${name}: ${message}`;
    const hold = () => {
      const settles = expectations.some(({ rule }) => isOnReceivers(rule)) && isWatching(merchant ?? undefined);
      return result("pass", text, { found, open: settles, settles });
    };
    if (score === undefined && verdict === "pass") return hold();
    if (score === undefined)
      return result(verdict ?? "inconclusive", text, { found, open: verdict === "inconclusive" });
    const compared = compareCount(score, found);
    if (compared === "right") return hold();
    return result("fail", `${text} Expected ${describeCount(score)}.`, { found, open: compared === "too few" });
  };
}

const isOnReceivers = (rule: string) => matchesWildcard("webhook.single_effect", rule) || rule.startsWith("webhook.");

/** A fault that never fired has tested nothing, so the result is inconclusive. */
export function checkFault(fired: () => number, { id, fired: count = { atLeast: 1 } }: ExpectationOf<"fault">): Check {
  return (): CheckResult => {
    const times = fired();
    const compared = compareCount(count, times);
    const text = `${id} fired ${times} time${times === 1 ? "" : "s"}`;
    if (compared === "right") return result("pass", `${text}; expected ${describeCount(count)}.`, { found: times });
    if (times === 0) return result("inconclusive", `${id} never fired, so nothing was tested.`, { open: true });
    return result("fail", `${text}; expected ${describeCount(count)}.`, {
      found: times,
      open: compared === "too few",
    });
  };
}
