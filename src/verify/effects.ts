// What is expected to have come of the requests: deliveries, records, verdicts of the judge, faults that fired.

import type { DeliveryMatch, Expectation, Verdict } from "../contracts/expectations.ts";
import type { RecordBase, Resource } from "../contracts/resource.ts";
import type { ScenarioState } from "../contracts/scenario.ts";
import { type Count, compareCount, describeCount, matchesWildcard } from "../schema/conditions.ts";
import { valueAt } from "../schema/json-pointer.ts";
import type { LoggedDelivery, RunSummary } from "../store/journal/run-summary.ts";
import { type Check, type Look, look, lookAtCount, type NearMiss } from "./check-result.ts";
import { demandsOf, nearestOf } from "./near-miss.ts";

type Wanted<Kind extends keyof Expectation> = NonNullable<Expectation[Kind]>;

/** What the judge found, as far as an expectation can ask for it. */
export interface Judged {
  rule: string;
  verdict: Verdict;
  merchant?: string | null | undefined;
  /** None while it is still open. */
  id?: string | null | undefined;
  /** The ids of those that show it. */
  requests?: readonly string[] | undefined;
}

const FINAL = new Set(["succeeded", "failed", "cancelled"]);

export function checkDeliveries(
  log: Pick<RunSummary, "deliveries">,
  { match, count, attempts, final }: Wanted<"deliveries">,
  merchant: string | undefined,
): Check {
  return () => {
    const found = log.deliveries(merchant ?? match.merchant).filter((delivery) => isMeant(match, delivery));
    const ids = found.map(({ event, endpoint }) => `${event} to ${endpoint}`);
    const counted = lookAtCount(ids, count, ["delivery", "deliveries"]);
    if (counted.verdict !== "pass") return counted;
    const wrong = found.map((delivery) => wrongAbout(delivery, attempts, final)).filter((one) => one !== undefined);
    const [first] = wrong;
    if (!first) return counted;
    const open = wrong.every((one) => one.open);
    return { ...counted, verdict: "fail", message: `${wrong.length} of ${found.length}: ${first.message}`, open };
  };
}

function isMeant({ event, endpoint, merchant }: DeliveryMatch, delivery: LoggedDelivery): boolean {
  return (
    (event === undefined || [event].flat().some((name) => delivery.event === name || matchesWildcard(delivery.type, name))) &&
    (endpoint === undefined || delivery.endpoint === endpoint || delivery.url === endpoint) &&
    (merchant === undefined || delivery.merchant === merchant)
  );
}

/** Why a delivery is not as it should be, and whether it could still become so; undefined when it is. */
function wrongAbout({ event, endpoint, state, attempts }: LoggedDelivery, wanted: Count | undefined, final: string | undefined) {
  const about = `${event} to ${endpoint}`;
  const isOver = FINAL.has(state);
  const compared = wanted ? compareCount(wanted, attempts) : "right";
  if (compared !== "right")
    return {
      message: `${about} had ${attempts} attempt${attempts === 1 ? "" : "s"}; ${describeCount(wanted ?? {})} were wanted.`,
      open: compared === "too few" && !isOver,
    };
  if (final !== undefined && state !== final) return { message: `${about} is ${state}; ${final} was wanted.`, open: !isOver };
  return undefined;
}

/** `all` are those of every merchant that is looked at. */
export function checkRecords(all: () => Iterable<RecordBase>, { kind }: Resource, { where = {}, count }: Wanted<"records">): Check {
  const demands = (record: RecordBase) => demandsOf("", where, (pointer) => valueAt(record, pointer));
  return () => {
    const records = [...all()];
    const found = records.filter((record) => demands(record).every(({ met }) => met)).map(({ id }) => id);
    const near = (): NearMiss[] => nearestOf(records, demands, ({ id, status }) => ({ id, what: [kind, status].join(" ").trim() }));
    return lookAtCount(found, count, ["record", "records"], near);
  };
}

/** Where the judge has found nothing that it can tell, nothing has passed either. */
export function checkVerdicts(verdicts: () => readonly Judged[], wanted: Wanted<"verdicts">, merchant: string | undefined): Check {
  const { rules, ...counts } = wanted;
  const asked: Partial<Record<Verdict, Count>> = Object.keys(counts).length > 0 ? (counts as object) : { fail: { exactly: 0 } };
  return () => {
    const found = verdicts().filter(
      ({ rule, merchant: whose }) =>
        rules.some((pattern) => matchesWildcard(rule, pattern)) && (merchant === undefined || whose === merchant),
    );
    const number = (verdict: Verdict) => found.filter((one) => one.verdict === verdict).length;
    const evidence = [...new Set(found.map(({ rule, verdict }) => `${rule} ${verdict}`))];
    const told = `${number("pass")} passed, ${number("fail")} failed, ${number("inconclusive")} inconclusive`;
    const seen = { found: found.length, evidence };
    if (asked.inconclusive === undefined && found.every(({ verdict }) => verdict === "inconclusive"))
      return look("inconclusive", `The judge cannot tell of ${rules.join(", ")}: ${told}.`, { ...seen, open: true });
    const compared = Object.entries(asked).map(
      ([verdict, count]) => [verdict, count, compareCount(count, number(verdict as Verdict))] as const,
    );
    const wrong = compared.find(([, , result]) => result !== "right");
    if (!wrong) return look("pass", `${told}.`, seen);
    const open = compared.every(([, , result]) => result !== "too many");
    return look("fail", `${told}; of ${wrong[0]}, ${describeCount(wrong[1])} were wanted.`, { ...seen, open });
  };
}

/** Without a score it must pass; a verdict that is open may still become one. */
export function checkScenario(find: () => ScenarioState | undefined, { name, score }: Wanted<"scenario">): Check {
  return (): Look => {
    const state = find();
    if (!state) return look("inconclusive", `${name} is no longer armed.`);
    const { verdict, says, score: found } = state;
    const told = `${name}: ${says}`;
    if (score === undefined) return look(verdict ?? "inconclusive", told, { found, open: verdict === "inconclusive" });
    const compared = compareCount(score, found);
    if (compared === "right") return look("pass", told, { found });
    return look("fail", `${told} ${describeCount(score)} was wanted.`, { found, open: compared === "too few" });
  };
}

/** A fault that never fired has tried nothing: that is no failure, and no pass. */
export function checkFault(fired: () => number, { id, fired: count = { at_least: 1 } }: Wanted<"fault">): Check {
  return (): Look => {
    const times = fired();
    const compared = compareCount(count, times);
    const told = `${id} fired ${times} time${times === 1 ? "" : "s"}`;
    if (compared === "right") return look("pass", `${told}, and ${describeCount(count)} was wanted.`, { found: times });
    if (times === 0) return look("inconclusive", `${id} never fired: nothing was tried.`, { open: true });
    return look("fail", `${told}; ${describeCount(count)} was wanted.`, { found: times, open: compared === "too few" });
  };
}
