// What the rooms say to one another about scenarios: faults with what they are to show of a client, and how it fared.

import type { Verdict } from "./expectations.ts";
import type { RuleState } from "./fault.ts";
import type { VerdictMessage } from "./live-messages.ts";

/** What is expected of the judge, and what it is worth. */
export interface ScenarioExpectation {
  /** Id of a rule of the judge, or several at once, as in `retry_after.*`. */
  readonly rule: string;
  readonly points: number;
  /** It counts only once something was seen that could tell. */
  readonly optional: boolean;
}

/** How one expectation stands. */
export interface ScenarioResult extends ScenarioExpectation {
  readonly verdict: Verdict;
  readonly earned: number;
  readonly pass: number;
  readonly fail: number;
  readonly inconclusive: number;
  /** What the judge found because of the scenario's faults: failures first, and not all of very many. */
  readonly verdicts: readonly VerdictMessage[];
}

/** A scenario as the control plane shows it. */
export interface ScenarioState {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly armed: boolean;
  /** Whom it strikes; null for everybody. */
  readonly merchant: string | null;
  /** Sandbox time; null when it is not armed. */
  readonly since: string | null;
  /** Its rules as they stand; as they are written when it is not armed. */
  readonly faults: readonly (RuleState | Readonly<Record<string, unknown>>)[];
  readonly expectations: readonly ScenarioResult[];
  readonly score: number;
  /** How many there are to be had. */
  readonly points: number;
  /** Null when it is not armed. */
  readonly verdict: Verdict | null;
  /** The same in a sentence. */
  readonly says: string;
}

/** The scenarios there are: what the control plane works with. */
export interface ScenarioRegistry {
  /** Every scenario; one that is armed for several merchants has a place for each. */
  list(): Promise<ScenarioState[]>;
  /** Without a merchant: the one that is armed, whomever it strikes. */
  find(name: string, merchant?: string): Promise<ScenarioState>;
  /** Arms it; one that is armed begins afresh. */
  start(name: string, merchant?: string): Promise<ScenarioState>;
  /** Disarms it, and answers what it came to. */
  stop(name: string, merchant?: string): Promise<ScenarioState>;
  /** Those that are armed now. */
  armed(): ScenarioState[];
  /** Disarms those of one merchant, or all. */
  forget(merchant?: string): void;
  /** The JSON Schema of a file. */
  schema(): Record<string, unknown>;
}
