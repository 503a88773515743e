// Concludes an audit: judges each probe by the responses and by the count of effects. A result says what the receiver
// did, what it should have done, and why.

import type { Verdict } from "../contracts/verdict.ts";
import { grouped } from "../kernel/grouped.ts";
import { VERIFY_RAW_BYTES } from "../kernel/json-forms.ts";
import type { Outcome } from "../webhooks/http/outcome.ts";
import type { EffectCounts, EffectFinding } from "./effects.ts";
import { isAccepted, isRejected, type Probe, probes } from "./probes.ts";

export type Audit = ReturnType<typeof conclude>;

export interface OtherSecret {
  secret: string;
  /** Completes "The receiver verifies with". */
  what: string;
}

/** Real milliseconds in which a receiver should respond. */
const MAX_RESPONSE_TIME = 5_000;

interface Evidence {
  url: string;
  tried: readonly Probe[];
  outcomes: ReadonlyMap<Probe, readonly Outcome[]>;
  first: readonly Outcome[];
  note: string;
  /** The probe after which the receiver refused connections. */
  downSince: string | undefined;
  counts?: EffectCounts;
  /** The effects that were counted only after the last probe. */
  late: number | undefined;
  /** The type of the events. */
  type: string;
  /** The wrong secret that the receiver uses, if it is known. */
  verifiesWith: OtherSecret | undefined;
}

export function conclude(evidence: Evidence) {
  const { url, tried, outcomes, first, note, downSince, counts, late = 0, type, verifiesWith } = evidence;
  const forgedOutcomes = (probe: Probe) => judgedOutcomes(probe, outcomes.get(probe) ?? []);
  const forgeries = tried.filter(({ isForgery }) => isForgery);
  const verifies = forgeries.every((probe) => forgedOutcomes(probe).every(isRejected));
  const badlySigned = tried.find(({ id }) => id === "bad_signature");
  const forged = (badlySigned && outcomes.get(badlySigned)) ?? [];
  const results = tried.map((probe) => {
    const found = outcomes.get(probe);
    const byResponse = judge(probe, found, { first, forged, verifies, downSince });
    return withEffects(byResponse, found && counts?.judge(probe, found, type));
  });
  const [genuine] = results;
  if (genuine) genuine.did += note;
  const isRawBytes = results.some(({ probe, why }) => probe === "raw_bytes" && why === VERIFY_RAW_BYTES);
  if (genuine && first.some(isUnverified)) genuine.why = whyUnverified(verifiesWith, isRawBytes);
  results.push(...(counts ? lateResults(late) : [unchecked()]));
  // The service's documentation does not forbid old events, so accepting one does not count here.
  const decisive = results.filter(({ probe, verdict }) => probe !== "old_event" || verdict !== "inconclusive");
  const verdict: Verdict =
    (["fail", "inconclusive"] as const).find((worst) => decisive.some((result) => result.verdict === worst)) ?? "pass";
  /** Whether the receiver accepted a request that was not signed with its secret. */
  const forgeryAccepted = forgeries.some((probe) => forgedOutcomes(probe).some(isAccepted));
  return { url, verdict, forgeryAccepted, probes: results };
}

/** Whether the status says that the signature did not match. */
const isUnverified = ({ responseStatus }: Outcome) => responseStatus === 401 || responseStatus === 403;

/** Why the receiver rejected a genuine event: most likely, it has the wrong secret. */
function whyUnverified(verifiesWith: OtherSecret | undefined, isRawBytes: boolean): string {
  if (verifiesWith)
    return `The receiver verifies with ${verifiesWith.what}: give it this endpoint's secret, unchanged.`;
  if (isRawBytes) return VERIFY_RAW_BYTES;
  return (
    "Check the secret first: the receiver must use the whole current secret of this endpoint, including whsec_. " +
    "Without --secret, the audit signs with that secret. The receiver uses none of the other secrets that the " +
    "sandbox knows."
  );
}

type ProbeResult = ReturnType<typeof judge>;

/** Adds the finding from the count of effects to a result. The worse of the two verdicts holds. */
function withEffects(result: ProbeResult, effects: EffectFinding | undefined): ProbeResult {
  if (!effects) return result;
  const did = `${result.did}; ${effects.did}`;
  if (effects.verdict === "pass" || result.verdict === "fail") return { ...result, did };
  return { ...result, did, verdict: effects.verdict, why: effects.why ?? result.why };
}

/** A single result in place of the probes that need a count of effects. */
const unchecked = (): ProbeResult => ({
  probe: "acts_once",
  verdict: "inconclusive",
  sent: "nothing",
  did: "not checked: whether it acted once",
  should: "act once on each event, however often it arrives",
  why:
    "A response does not show what the receiver did. Pass a command that prints how often it has acted, as in " +
    "`--effects 'psql -tc \"select count(*) from orders\"'`, or in TypeScript `effects: () => count()`.",
});

const lateResults = (late: number): ProbeResult[] =>
  late === 0
    ? []
    : [
        {
          probe: "late_effects",
          verdict: "fail",
          sent: "nothing more",
          did: `the count changed by ${late} after the last probe`,
          should: "have done all its work",
          why:
            "The late work belongs to an event that was already counted. " +
            "If anything else changes the count, stop it during the audit.",
        },
      ];

const judgedOutcomes = ({ judged }: Probe, outcomes: readonly Outcome[]) => judged?.(outcomes) ?? outcomes;

interface OtherOutcomes {
  /** The outcomes of the first probe, a genuine event. */
  first: readonly Outcome[];
  /** The outcomes of events with a bad signature. */
  forged: readonly Outcome[];
  /** Whether the receiver rejected every forgery. */
  verifies: boolean;
  downSince: string | undefined;
}

function judge(probe: Probe, outcomes: readonly Outcome[] | undefined, others: OtherOutcomes) {
  const { first, forged, verifies, downSince } = others;
  const { id, sent, should, expected } = probe;
  const why = probe.explains?.(outcomes ?? [], forged) ?? probe.why;
  const result = (verdict: Verdict, did: string) => ({ probe: id, verdict, sent, did, should, why });
  if (!outcomes && downSince !== undefined)
    return result("inconclusive", `was not tried: the receiver has been down since ${downSince}`);
  if (!outcomes) return result("inconclusive", "was not tried: the receiver did not accept a genuine event");
  const judged = judgedOutcomes(probe, outcomes);
  const waiting = probe.isBurst ? judged.filter(isStillWaiting).length : 0;
  const did =
    describe(judged) +
    (waiting > 0 ? ` (${waiting} of ${judged.length} connections waited in the system's listen backlog)` : "");
  const isFirstRejected = !first.every(isAccepted);
  if (probe.isTriedAlways && isFirstRejected && !judged.some(isAccepted))
    return result("inconclusive", `${did}, as it did to a genuine event`);
  if (expected === "accepted") return result(judgeAcceptance(probe, judged), did);
  if (expected === "either")
    return result(judged.every(isRejected) || (verifies && judged.every(isAccepted)) ? "pass" : "fail", did);
  const isAnyAccepted = judged.some(isAccepted);
  if (probe.unchecked !== undefined && judged.every(isAccepted))
    return result("inconclusive", `${did}; not checked: ${probe.unchecked}`);
  if (!isAnyAccepted && isFirstRejected) return result("inconclusive", `${did}, as it did to a genuine event`);
  return result(judged.every(isRejected) ? "pass" : "fail", did);
}

/**
 * The verdict on a probe that must be accepted. Only the first probe checks the response time, so that slowness counts
 * as one mistake.
 */
function judgeAcceptance({ id, isBurst }: Probe, outcomes: readonly Outcome[]): Verdict {
  const isFirst = id === probes[0].id;
  if (isFirst && outcomes.every(isUnreachable)) return "inconclusive";
  const heard = isBurst ? outcomes.filter((outcome) => !isStillWaiting(outcome)) : outcomes;
  if (heard.length < outcomes.length && heard.every(isAccepted)) return "inconclusive";
  if (!outcomes.every(isAccepted)) return "fail";
  return isFirst && outcomes.some(({ duration }) => duration > MAX_RESPONSE_TIME) ? "fail" : "pass";
}

/**
 * Whether the connection may still wait in the operating system. In a burst, connections wait in the receiver's listen
 * backlog (5 in Python's http.server), and further connections are refused or time out. From outside, this looks like a
 * receiver that does not respond.
 */
const isStillWaiting = ({ errorCode }: Outcome) => errorCode === "connection_refused" || errorCode === "timeout";

/** Whether no receiver could be reached at the URL. */
export const isUnreachable = ({ errorCode }: Outcome) =>
  errorCode === "connection_refused" || errorCode === "dns" || errorCode === "target_not_allowed";

export function describe(outcomes: readonly Outcome[]): string {
  const groups = [...grouped(outcomes, describeOne)];
  const described = groups.map(([text, { length }]) => (length > 1 ? `${text} ×${length}` : text)).join(", ");
  const slowest = Math.round(Math.max(...outcomes.map(({ duration }) => duration)));
  return `${described}, ${outcomes.length > 1 ? "the slowest " : ""}in ${slowest} ms`;
}

const describeOne = ({ responseStatus, errorMessage }: Outcome) =>
  responseStatus === null ? (errorMessage ?? "no response").replace(/\.$/, "") : `answered ${responseStatus}`;
