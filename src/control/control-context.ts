// What the control plane may touch, and the way its operations are declared: the service's own way, over another world.

import { type Endpoint, endpointFactory } from "../contracts/endpoint.ts";
import type { Expectations, Verdict } from "../contracts/expectations.ts";
import type { RuleRegistry } from "../contracts/fault.ts";
import type { Lessons } from "../contracts/lesson.ts";
import type { AttemptMessage, LiveEvent } from "../contracts/live-messages.ts";
import type { Resource } from "../contracts/resource.ts";
import type { ScenarioRegistry } from "../contracts/scenario.ts";
import type { Traffic } from "../contracts/traffic.ts";
import type { JudgeResults } from "../contracts/verdict.ts";
import type { Clock } from "../kernel/clock.ts";
import type { RunCoverage } from "../store/journal/coverage.ts";
import type { Stores } from "../store/stores.ts";
import type { Snapshots } from "../store/world/snapshots.ts";
import type { World } from "../store/world/world.ts";

/** What the control plane asks of whoever delivers. */
interface Deliverer {
  drain(options: { within: number }): Promise<{ settled: boolean; pending: number; inFlight: number }>;
  replay(merchant: string, attempt: string): Promise<Replayed>;
  replayEvent(merchant: string, event: string): Promise<Replayed>;
  enable(merchant: string, endpoint: string): Promise<void>;
  explain(merchant: string, endpoint: string, body: string, signature: string): Explanation;
  listen(listener: (attempt: AttemptMessage) => void): () => void;
}

interface Replayed {
  eventId: string;
  attempts: { id: string }[];
}

interface Explanation {
  matches: boolean;
  mistake: string | null;
  explanation: string;
}

/** The windows of a merchant: the one that its operations share, and those that some have for themselves. */
interface Limiter {
  of(merchant: string): Bucket;
  ownOf(merchant: string): [operation: string, bucket: Bucket][];
}

interface Bucket {
  readonly limit: number;
  readonly window: number;
  remaining(now: number): number;
  reset(now: number): number;
  set(change: { [Name in "limit" | "window" | "remaining" | "resetIn"]?: number | undefined }, now: number): void;
}

/** What came of holding a run against expectations. */
interface Verified {
  verdict: Verdict;
  waited: number;
  results: {
    expectation: string;
    verdict: Verdict;
    message: string;
    found: number;
    evidence: string[];
    closest: { id: string; what: string; differs: { field: string; wanted: unknown; received: unknown }[] }[];
  }[];
}

interface Audited {
  url: string;
  verdict: Verdict;
  forgeryAccepted: boolean;
  probes: { probe: string; verdict: Verdict; sent: string; did: string; should: string; why: string }[];
}

export interface ControlContext extends Stores {
  about: {
    version: string;
    /** Where the sandbox listens, such as http://127.0.0.1:4747. */
    url: () => string;
    /** The file that keeps everything; undefined when nothing does. */
    file: string | undefined;
  };
  clock: Clock;
  world: World;
  dispatcher: Deliverer;
  limiter: Limiter;
  faults: RuleRegistry;
  judge: JudgeResults;
  scenarios: ScenarioRegistry;
  lessons: Lessons & { renew(): void; stop(): void };
  traffic: Traffic;
  /** The run so far: an object where the format is JSON, else a document. */
  report(format: "json" | "junit" | "markdown" | "html" | "har"): Promise<object>;
  auditor: { audit(url: string, secret: string | undefined): Promise<Audited> };
  verifier: { verify(expectations: Expectations): Promise<Verified>; stop(): void };
  snapshots: Snapshots;
  /** Drops what memory holds of a state that was replaced. */
  renew(): void;
  /** Tells those who watch. */
  tell(happening: LiveEvent): void;
  /** What of the service the run touched so far. */
  coverage(): RunCoverage;
  resources: readonly Resource[];
  /** Documents derived from the catalogue: made when first asked for. */
  documents: {
    openapi(): Promise<object>;
    controlOpenapi(): Promise<object>;
    assumptions(): Promise<object>;
  };
}

export type ControlOperation = Endpoint<ControlContext>;

export const endpoint = endpointFactory<ControlContext>();
