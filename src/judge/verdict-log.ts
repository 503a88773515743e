// The log of final verdicts: keeps the newest passes, failures and inconclusive verdicts, and reports each new verdict.

import type { VerdictCounts } from "../contracts/live-messages.ts";
import {
  type Confirmation,
  VERDICTS,
  type Verdict,
  type VerdictFilter,
  type VerdictMessage,
} from "../contracts/verdict.ts";
import { matchesWildcard } from "../schema/conditions.ts";
import type { ObservedCall } from "./observed-call.ts";
import type { Finding, Rule } from "./rules/rule.ts";

export interface VerdictSubject {
  merchant: string | undefined;
  operation: string | undefined;
  /** Sandbox milliseconds. */
  at: number;
  fault: string | undefined;
  /** How the calls were matched. A rule's own `confirmedBy` overrides this. */
  confirmedBy: Confirmation;
}

/** The subject of a verdict about a call. The verdict names the first fault among `causes`. */
export const callSubject = (
  { merchant, operation, at }: ObservedCall,
  causes: readonly ObservedCall[],
  confirmedBy: Confirmation = "connections",
): VerdictSubject => ({
  confirmedBy,
  merchant,
  operation,
  at,
  fault: causes.find(({ fault }) => fault !== undefined)?.fault,
});

/** The subject of a verdict that is not about a call. */
export const subjectWithoutCall = (
  merchant: string | undefined,
  at: number,
  fault: string | undefined,
): VerdictSubject => ({
  confirmedBy: "database",
  merchant,
  operation: undefined,
  at,
  fault,
});

/** Adds a verdict and returns its id. With `amended`, the verdict replaces the earlier one that has this id. */
export type AddFinding = (rule: Rule, finding: Finding, subject: VerdictSubject, amended?: string) => string;

export type VerdictLog = ReturnType<typeof createVerdictLog>;

/** The limit applies to passes, failures and inconclusive verdicts separately, so passes never push out a failure. */
const MAX_KEPT = 1_000;

export function createVerdictLog(onVerdict: (verdict: VerdictMessage) => void) {
  const made = createVerdictCounts();
  const kept = createKeptVerdicts();
  let number = 0;
  let erased: VerdictMessage[] = [];
  /** Inconclusive verdicts that were failures. */
  const doubted = new WeakSet<VerdictMessage>();
  const nextId = () => `vdt_${++number}`;
  const put = (verdict: VerdictMessage) => {
    made.count(verdict, 1);
    kept.add(verdict);
    onVerdict(verdict);
  };
  const remove = (id: string): VerdictMessage | undefined => {
    const removed = kept.remove(id);
    if (removed) made.count(removed, -1);
    return removed;
  };
  return {
    add(rule: Rule, finding: Finding, subject: VerdictSubject, amended?: string): string {
      const id = amended ?? nextId();
      if (amended !== undefined) remove(amended);
      put(buildVerdict(rule, finding, subject, id));
      return id;
    },
    /** Whether the verdict is a failure, or was one until a later call put its proof in doubt. */
    hasFailed(id: string): boolean {
      const found = kept.find(id);
      return found !== undefined && (found.verdict === "fail" || doubted.has(found));
    },
    /** Turns a failure into an inconclusive verdict, because a later call shows another explanation. */
    doubt(id: string, reason: string) {
      if (kept.find(id)?.verdict !== "fail") return;
      const failed = remove(id) as VerdictMessage;
      const inDoubt = {
        ...failed,
        verdict: "inconclusive" as const,
        message: `${failed.message} ${reason}`,
        confirmedBy: null,
      };
      doubted.add(inDoubt);
      put(inDoubt);
    },
    /** Turns an inconclusive verdict into a pass, because a later call decides it. For a failure, call `doubt`. */
    withdraw(id: string, message: string, calls: readonly ObservedCall[]) {
      const found = remove(id);
      if (found) put({ ...found, verdict: "pass", message, ...describeCalls(calls), confirmedBy: "connections" });
    },
    /** Adds verdicts of another sandbox. */
    adopt(verdicts: readonly VerdictMessage[]) {
      for (const verdict of verdicts) put({ ...verdict, id: nextId() });
    },
    /** Failed and inconclusive verdicts that were erased. */
    erased: () => erased,
    list: kept.list,
    /** Counts of all verdicts since the last reset, including dropped ones. */
    made: made.sum,
    kept: kept.count,
    /**
     * Erases the verdicts on one merchant (default: on all). The messages of erased ones name `event` as the reason.
     */
    forget(merchant: string | undefined, event: string) {
      const gone = kept.forget(merchant);
      made.forget(merchant, gone);
      const wrong = gone.filter(({ verdict }) => verdict !== "pass");
      erased.push(...wrong.map((found) => ({ ...found, message: `Before ${event}: ${found.message}` })));
      erased = erased.slice(-MAX_KEPT);
      if (merchant === undefined) number = 0;
    },
    clearErased: () => void erased.splice(0),
    /** Closes the counts of a removed merchant. Its verdicts are kept, and cannot change any more. */
    close: made.close,
  };
}

/** The newest verdicts of each kind. */
function createKeptVerdicts() {
  const lists = new Map<Verdict, VerdictMessage[]>(VERDICTS.map((verdict) => [verdict, []]));
  return {
    add(verdict: VerdictMessage) {
      const list = lists.get(verdict.verdict) ?? [];
      list.push(verdict);
      if (list.length > 2 * MAX_KEPT) list.splice(0, MAX_KEPT);
    },
    find: (id: string) =>
      [...lists.values()].map((list) => list.findLast((verdict) => verdict.id === id)).find((found) => found),
    remove(id: string): VerdictMessage | undefined {
      for (const list of lists.values()) {
        const index = list.findLastIndex((verdict) => verdict.id === id);
        if (index >= 0) return list.splice(index, 1)[0];
      }
      return undefined;
    },
    /** Oldest first. */
    list: () =>
      [...lists.values()]
        .flatMap((list) => list.slice(-MAX_KEPT))
        .sort((one, other) => numberOf(one) - numberOf(other)),
    count: () => [...lists.values()].reduce((sum, list) => sum + Math.min(MAX_KEPT, list.length), 0),
    /** Removes the verdicts of one merchant (default: of all), and returns them. */
    forget(merchant?: string): VerdictMessage[] {
      const isGone = (found: VerdictMessage) => merchant === undefined || found.merchant === merchant;
      const gone = [...lists.values()].flatMap((list) => list.filter(isGone));
      for (const [verdict, list] of lists)
        lists.set(
          verdict,
          list.filter((found) => !isGone(found)),
        );
      return gone;
    },
  };
}

function createVerdictCounts() {
  /** By merchant, then by verdict and rule. */
  const counts = new Map<string | null, Map<string, number>>();
  return {
    count({ merchant, rule, verdict }: VerdictMessage, by: number) {
      const ofMerchant = counts.get(merchant) ?? new Map<string, number>();
      counts.set(merchant, ofMerchant);
      const kind = `${verdict} ${rule}`;
      ofMerchant.set(kind, (ofMerchant.get(kind) ?? 0) + by);
    },
    sum(): VerdictCounts {
      const sums = { pass: 0, fail: 0, inconclusive: 0, failures: {} as Record<string, number> };
      for (const [kind, count] of [...counts.values()].flatMap((ofMerchant) => [...ofMerchant])) {
        const [verdict, rule] = kind.split(" ") as [Verdict, string];
        sums[verdict] += count;
        if (verdict === "fail" && count > 0) sums.failures[rule] = (sums.failures[rule] ?? 0) + count;
      }
      return sums;
    },
    /**
     * Subtracts the verdicts of a merchant. `gone` has the merchant's kept verdicts. Verdicts
     * of a removed merchant are counted under no merchant; see `close`.
     */
    forget(merchant: string | undefined, gone: readonly VerdictMessage[]) {
      if (merchant === undefined) return counts.clear();
      const own = counts.get(merchant) ?? new Map<string, number>();
      counts.delete(merchant);
      const ofNone = counts.get(null) ?? new Map<string, number>();
      for (const { verdict, rule } of gone) {
        const kind = `${verdict} ${rule}`;
        const from = (own.get(kind) ?? 0) > 0 ? own : ofNone;
        from.set(kind, Math.max(0, (from.get(kind) ?? 0) - 1));
      }
    },
    /**
     * Moves a removed merchant's counts to the counts without a merchant. Otherwise, each merchant that is created and
     * removed would add to the memory of the counts.
     */
    close(merchant: string) {
      const ofNone = counts.get(null) ?? new Map<string, number>();
      for (const [kind, count] of counts.get(merchant) ?? []) ofNone.set(kind, (ofNone.get(kind) ?? 0) + count);
      counts.set(null, ofNone);
      counts.delete(merchant);
    },
  };
}

const numberOf = ({ id }: VerdictMessage) => Number(id?.slice("vdt_".length));

/** A verdict that is not final has no id. */
export const buildVerdict = (
  rule: Rule,
  finding: Finding,
  subject: VerdictSubject,
  id: string | null,
): VerdictMessage => ({
  id,
  rule: rule.id,
  severity: rule.severity,
  verdict: finding.verdict,
  at: subject.at,
  merchant: subject.merchant ?? null,
  operation: subject.operation ?? null,
  message: finding.message,
  hint: finding.hint ?? rule.hint,
  ...describeCalls(finding.calls ?? []),
  attempts: (finding.attempts ?? []).map(({ id: attempt }) => attempt),
  confirmedBy: finding.verdict === "inconclusive" ? null : (rule.confirmedBy ?? subject.confirmedBy),
  milliseconds: finding.milliseconds ?? {},
  fault: subject.fault ?? null,
});

function describeCalls(calls: readonly ObservedCall[]): Pick<VerdictMessage, "requests" | "calls"> {
  const inOrder = [...calls].sort((one, other) => one.arrived - other.arrived);
  const shown = inOrder.map(({ request, connection, arrived }) => ({
    request,
    connection: connection.number,
    milliseconds: Math.round(arrived - (inOrder[0] as ObservedCall).arrived),
  }));
  return { requests: calls.map(({ request }) => request), calls: shown };
}

export function matchesFilter({ rule, verdict, merchant, since }: VerdictFilter, found: VerdictMessage): boolean {
  return (
    (rule === undefined || matchesWildcard(found.rule, rule)) &&
    (verdict === undefined || verdict === found.verdict) &&
    (merchant === undefined || merchant === found.merchant) &&
    (since === undefined || found.at >= since)
  );
}
