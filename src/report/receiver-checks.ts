// Collects the results of audits and of expectations of effects for the report, because the judge does not see them.

import type { Audit } from "../audit/probe-verdicts.ts";
import type { ExpectationOf } from "../contracts/expectations.ts";
import type { ReceiverCheck } from "../contracts/run-report.ts";
import type { Verdict } from "../contracts/verdict.ts";
import { mask } from "../kernel/mask.ts";
import { plural } from "../kernel/text.ts";
import type { CheckResult } from "../verify/check-result.ts";

/** The most results that are kept. Failed ones are dropped last. */
const MOST = 200;

interface Entry {
  check: ReceiverCheck;
  /** Whether the check decided how often the receiver acts (`effects`), and whether it rejects old events (`age`). */
  decides: { effects: boolean; age: boolean };
  /** A later result with the same key replaces this one. Undefined if no later result may replace it. */
  key?: string | undefined;
  /** Whether only another proven failure may replace this result. */
  isProven?: boolean;
  /** Whether a reset erased the events that the result is about. */
  isErased?: boolean;
}

export type ReceiverChecks = ReturnType<typeof collectReceiverChecks>;

export function collectReceiverChecks() {
  let entries: Entry[] = [];
  const add = (added: Entry) => {
    const before = entries.find(({ key, isErased }) => key !== undefined && key === added.key && !isErased);
    if (before?.isProven && !added.isProven) return;
    entries = [...entries.filter((entry) => entry !== before), added];
    const harmless = entries.findIndex(({ check }) => check.verdict !== "fail");
    if (entries.length > MOST) entries.splice(Math.max(0, harmless), 1);
  };
  return {
    audited(audit: Audit, { effects, maxAge }: { effects: boolean; maxAge: string | undefined }) {
      const { url } = audit;
      const check = { kind: "audit", subject: mask(url), merchant: null, ...describeAudit(audit) } as const;
      add({ check, decides: { effects, age: maxAge !== undefined } });
    },
    /**
     * Adds the result of an expectation of effects. A test may repeat the check until it passes, so a later result
     * replaces an earlier one, unless the earlier one proved too many effects.
     */
    counted(
      { match = {} }: ExpectationOf<"effects">,
      ofAll: string | undefined,
      { verdict, message, open }: Pick<CheckResult, "verdict" | "message" | "open">,
    ) {
      if (verdict === "inconclusive") return;
      const subject = mask([match.event ?? "all events"].flat().join(", "));
      const merchant = ofAll ?? match.merchant ?? null;
      add({
        check: { kind: "effects", subject, merchant, verdict, message, probes: [] },
        decides: { effects: true, age: false },
        key: JSON.stringify([merchant, match]),
        isProven: verdict === "fail" && !open,
      });
    },
    /** Call after the data of a merchant (default: all data) were reset. */
    erase(merchant?: string) {
      for (const entry of entries) {
        entry.isErased ||= merchant === undefined || entry.check.merchant === merchant;
        // After the reset, a result about all merchants covers other events, so it must not replace this one.
        if (entry.check.merchant === null) entry.key = undefined;
      }
    },
    clear() {
      entries = [];
    },
    /** The results. `erased` includes the results from before a reset. */
    list(erased: boolean) {
      const listed = entries.filter(({ isErased }) => erased || !isErased);
      return {
        checks: listed.map(({ check }) => check),
        effects: listed.some(({ decides }) => decides.effects),
        age: listed.some(({ decides }) => decides.age),
      };
    },
  };
}

function describeAudit({ verdict, forgeryAccepted, probes: all }: Audit) {
  const named = (what: string, wanted: Verdict) => {
    const found = all.filter((probe) => probe.verdict === wanted).map(({ probe }) => probe);
    return found.length === 0 ? [] : [`${plural(found.length, "probe")} ${what}: ${found.join(", ")}`];
  };
  const wrong = [...named("failed", "fail"), ...named("not decided", "inconclusive")];
  const message = `${wrong.length === 0 ? "Every probe passed" : wrong.join("; ")}.`;
  const probes = all.map((probe) => ({ ...probe, did: mask(probe.did), why: mask(probe.why) }));
  return { verdict, message: `${message}${forgeryAccepted ? " It accepted a forged event." : ""}`, probes };
}
