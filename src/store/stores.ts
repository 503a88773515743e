// Opens and closes all stores over one database.

import type { Clock } from "../kernel/clock.ts";
import type { Random } from "../kernel/random.ts";
import { openLearners } from "./lessons/learners.ts";
import { operationContextFactory, type WebhookRules } from "./operation-context.ts";
import { openCollections } from "./records/collection.ts";
import { openDueRecords } from "./records/due-records.ts";
import { openCounters } from "./records/id-counters.ts";
import { openIdempotencyReplies } from "./records/idempotency-replies.ts";
import { openRecordHistory } from "./records/record-history.ts";
import { type Bodies, openStoredCheck } from "./records/stored-record.ts";
import { openTenants } from "./records/tenants.ts";
import { openRequestLog } from "./request-log/request-log.ts";
import { openRun } from "./request-log/run-start.ts";
import { openRunSummary } from "./request-log/run-summary.ts";
import { type Database, type DatabaseOptions, openDatabase } from "./sqlite/database.ts";
import { openAttempts } from "./webhooks/attempts.ts";
import { openDelayedDeliveries } from "./webhooks/delayed-deliveries.ts";
import { openDeliveries } from "./webhooks/deliveries.ts";
import { openEndpointHealth } from "./webhooks/endpoint-health.ts";
import { openEventLog } from "./webhooks/event-log.ts";
import { openHeldEndpoints } from "./webhooks/held-endpoints.ts";
import { openOutbox } from "./webhooks/outbox.ts";
import { openRetention } from "./webhooks/retention.ts";

export type Stores = ReturnType<typeof openOver>;

interface StoresOptions extends DatabaseOptions {
  /** Undefined for a database in memory. */
  file?: string | undefined;
  clock: Clock;
  random: Random;
  webhooks: WebhookRules;
  /** Whether a test's merchant without endpoints shares its base merchant's endpoints (default: false). */
  isIsolated?: boolean;
  /** Default: checked. */
  bodies?: Bodies | undefined;
}

export function openStores(options: StoresOptions) {
  const database = openDatabase(options.file, options);
  try {
    return openOver(database, options);
  } catch (error) {
    database.discard();
    throw error;
  }
}

function openOver(
  database: Database,
  { clock, random, webhooks, isIsolated = false, bodies = "checked" }: StoresOptions,
) {
  const counters = openCounters(database, random);
  const tenants = openTenants(database, counters, random, clock);
  const dueRecords = openDueRecords(database, clock);
  const collections = openCollections(database, dueRecords, openStoredCheck(database, bodies));
  const retention = openRetention(database);
  const heldEndpoints = openHeldEndpoints(database);
  // If this user's sandboxes did not write the database, holds its deliveries before the dispatcher can send them.
  if (!database.isTrusted()) {
    database.transaction(heldEndpoints.holdDeliveries);
    heldEndpoints.holdStored();
  }
  const baseOf = isIsolated ? tenants.baseOf : () => undefined;
  const outbox = openOutbox({
    baseOf,
    database,
    clock,
    counters,
    retention,
    heldEndpoints,
    gaps: webhooks.gaps,
    writeEvent: webhooks.writeEvent,
  });
  const attempts = openAttempts(database, retention);
  const health = openEndpointHealth(database, clock);
  const requestLog = openRequestLog(database);
  const runSummary = openRunSummary(database);
  return {
    database,
    counters,
    tenants,
    collections,
    dueRecords,
    outbox,
    heldEndpoints,
    deliveries: openDeliveries(database, outbox, baseOf),
    delayedDeliveries: openDelayedDeliveries(database),
    attempts,
    eventLog: openEventLog(database),
    runSummary,
    run: openRun({ requestLog, runSummary }),
    health,
    idempotencyReplies: openIdempotencyReplies(database, clock),
    recordHistory: openRecordHistory(database, clock),
    requestLog,
    learners: openLearners(database),
    createOperationContext: operationContextFactory({
      collections,
      counters,
      outbox,
      tenants,
      attempts,
      health,
      webhooks,
      random,
    }),
    close() {
      requestLog.close();
      database.close();
    },
    discard() {
      requestLog.close();
      database.discard();
    },
  };
}
