// The context of the control API's handlers, and `endpoint()`, which declares an operation.

import type { Audit } from "../audit/audit.ts";
import type { MadeCounts } from "../contracts/counts.ts";
import { type Endpoint, endpointFactory } from "../contracts/endpoint.ts";
import type { RuleRegistry } from "../contracts/fault.ts";
import type { Lessons } from "../contracts/lesson.ts";
import type { LiveEvent } from "../contracts/live-messages.ts";
import type { ReportFormat } from "../contracts/report-format.ts";
import type { Resource } from "../contracts/resource.ts";
import type { RunEnd } from "../contracts/run-report.ts";
import type { ScenarioRegistry } from "../contracts/scenario.ts";
import type { Signature } from "../contracts/signature.ts";
import type { Traffic } from "../contracts/traffic.ts";
import type { JudgeResults } from "../contracts/verdict.ts";
import type { RateLimiter } from "../http/rate-limit.ts";
import type { Clock } from "../kernel/clock.ts";
import type { StallGauge } from "../kernel/longest-stall.ts";
import type { Random } from "../kernel/random.ts";
import type { Life } from "../life/life.ts";
import type { Trends } from "../live/trends.ts";
import type { OpenApiForm } from "../reference/openapi-forms.ts";
import type { RunCoverage } from "../store/request-log/coverage.ts";
import type { Stores } from "../store/stores.ts";
import type { Snapshots } from "../store/world/snapshots.ts";
import type { World } from "../store/world/world.ts";
import type { Verifier } from "../verify/verifier.ts";
import type { Dispatcher } from "../webhooks/dispatcher.ts";

export interface ControlContext extends Stores {
  about: {
    version: string;
    /** Where the sandbox listens, such as http://127.0.0.1:4747. */
    url: () => string;
    /** The SQLite file; undefined in memory. */
    file: string | undefined;
    /** The service file; undefined for the plain service. */
    service: string | undefined;
    signature: Signature;
  };
  clock: Clock;
  random: Random;
  life: Pick<Life, "isOn" | "listen">;
  world: World;
  dispatcher: Pick<Dispatcher, "drain" | "replay" | "replayEvent" | "enable" | "explain" | "listen">;
  limiter: Pick<RateLimiter, "of" | "ownOf">;
  faults: RuleRegistry;
  judge: JudgeResults;
  scenarios: ScenarioRegistry;
  lessons: Lessons & { reset(): void; stop(): void };
  traffic: Traffic;
  trends: Pick<Trends, "read">;
  stalls: Pick<StallGauge, "longest">;
  /** The report of the run so far: an object if the format is JSON, else a Document. `end` is how `exec` ended. */
  report(format: ReportFormat, end: RunEnd): Promise<object>;
  auditor: { audit(url: string, secret: string | undefined): Promise<Audit> };
  verifier: Pick<Verifier, "verify" | "stop">;
  snapshots: Snapshots;
  /** Clears the caches after the database was replaced. */
  renew(): void;
  /** Sends an event to the live stream. */
  publish(event: LiveEvent): void;
  /** The numbers of requests, attempts and verdicts since the last reset. */
  made(): MadeCounts;
  /** Which operations and event types the run has used. */
  coverage(): RunCoverage;
  resources: readonly Resource[];
  /** Documents derived from both catalogues, built on first use. */
  documents: {
    openapi(form: OpenApiForm): Promise<object>;
    controlOpenapi(form: OpenApiForm): Promise<object>;
    assumptions(): Promise<object>;
  };
}

export type ControlOperation = Endpoint<ControlContext>;

export const endpoint = endpointFactory<ControlContext>();
