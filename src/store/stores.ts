// Opens and closes all stores over one database.

import type { Clock } from "../kernel/clock.ts";
import type { Random } from "../kernel/random.ts";
import { openRequestLog, type RequestLog } from "./journal/request-log.ts";
import { openRunSummary, type RunSummary } from "./journal/run-summary.ts";
import { type CreateOperationContext, operationContextFactory, type WebhookRules } from "./operation-context.ts";
import { type Collections, openCollections } from "./records/collection.ts";
import { type Counters, openCounters } from "./records/id-counters.ts";
import { type IdempotencyReplies, openIdempotencyReplies } from "./records/idempotency-replies.ts";
import { openRecordHistory, type RecordHistory } from "./records/record-history.ts";
import { openTenants, type Tenants } from "./records/tenants.ts";
import { type Database, openDatabase } from "./sqlite/database.ts";
import { type Attempts, openAttempts } from "./webhooks/attempts.ts";
import { type DelayedDeliveries, openDelayedDeliveries } from "./webhooks/delayed-deliveries.ts";
import { type Deliveries, openDeliveries } from "./webhooks/deliveries.ts";
import { type CheckEndpointHealth, openEndpointHealth } from "./webhooks/endpoint-health.ts";
import { type EventLog, openEventLog } from "./webhooks/event-log.ts";
import { type Outbox, openOutbox } from "./webhooks/outbox.ts";
import { openRetention } from "./webhooks/retention.ts";
import { type Learners, openLearners } from "./workshop/learners.ts";
import { openRoomCode, type RoomCode } from "./workshop/room-code.ts";

export interface Stores {
  database: Database;
  counters: Counters;
  tenants: Tenants;
  collections: Collections;
  outbox: Outbox;
  deliveries: Deliveries;
  delayedDeliveries: DelayedDeliveries;
  attempts: Attempts;
  eventLog: EventLog;
  runSummary: RunSummary;
  health: CheckEndpointHealth;
  idempotencyReplies: IdempotencyReplies;
  recordHistory: RecordHistory;
  requestLog: RequestLog;
  learners: Learners;
  roomCode: RoomCode;
  createOperationContext: CreateOperationContext;
  close(): void;
}

interface StoresOptions {
  /** Undefined for a database in memory. */
  file?: string | undefined;
  /** The initial content of a database in memory (default: empty). */
  image?: Buffer | undefined;
  clock: Clock;
  random: Random;
  webhooks: WebhookRules;
}

export function openStores(options: StoresOptions): Stores {
  const database = openDatabase(options.file, options.image);
  try {
    return openOver(database, options);
  } catch (error) {
    database.close();
    throw error;
  }
}

function openOver(database: Database, { clock, random, webhooks }: StoresOptions): Stores {
  const counters = openCounters(database, random);
  const tenants = openTenants(database, counters, random, clock);
  const collections = openCollections(database);
  const retention = openRetention(database);
  const outbox = openOutbox({ database, clock, counters, retention, gaps: webhooks.gaps });
  const attempts = openAttempts(database, retention);
  const health = openEndpointHealth(database, clock);
  const requestLog = openRequestLog(database);
  return {
    database,
    counters,
    tenants,
    collections,
    outbox,
    deliveries: openDeliveries(database, outbox),
    delayedDeliveries: openDelayedDeliveries(database),
    attempts,
    eventLog: openEventLog(database),
    runSummary: openRunSummary(database),
    health,
    idempotencyReplies: openIdempotencyReplies(database, clock),
    recordHistory: openRecordHistory(database, clock),
    requestLog,
    learners: openLearners(database),
    roomCode: openRoomCode(database),
    createOperationContext: operationContextFactory({ collections, counters, outbox, tenants, attempts, health, webhooks, random }),
    close() {
      requestLog.close();
      database.close();
    },
  };
}
