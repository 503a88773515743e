// Every store over one database: opened together, emptied together, closed together.

import type { Clock } from "../kernel/clock.ts";
import type { Random } from "../kernel/random.ts";
import { type Journal, openJournal } from "./journal/request-log.ts";
import { openRunLog, type RunLog } from "./journal/run-summary.ts";
import { type Callers, callers, type WebhookRules } from "./operation-context.ts";
import { type Collections, openCollections } from "./records/collection.ts";
import { type Counters, openCounters } from "./records/id-counters.ts";
import { openReplies, type Replies } from "./records/idempotency-replies.ts";
import { openPast, type Past } from "./records/record-history.ts";
import { openTenants, type Tenants } from "./records/tenants.ts";
import { type Database, openDatabase } from "./sqlite/database.ts";
import { type Attempts, openAttempts } from "./webhooks/attempts.ts";
import { type Holds, openHolds } from "./webhooks/delayed-deliveries.ts";
import { type Deliveries, openDeliveries } from "./webhooks/deliveries.ts";
import { type Checkup, openHealth } from "./webhooks/endpoint-health.ts";
import { type EventLog, openEventLog } from "./webhooks/event-log.ts";
import { type Outbox, openOutbox } from "./webhooks/outbox.ts";
import { openRetention } from "./webhooks/retention.ts";
import { type Learners, openLearners } from "./workshop/learners.ts";
import { openRoom, type Room } from "./workshop/room-code.ts";

export interface Stores {
  database: Database;
  counters: Counters;
  tenants: Tenants;
  collections: Collections;
  outbox: Outbox;
  deliveries: Deliveries;
  holds: Holds;
  attempts: Attempts;
  eventLog: EventLog;
  runLog: RunLog;
  health: Checkup;
  replies: Replies;
  past: Past;
  journal: Journal;
  learners: Learners;
  room: Room;
  callers: Callers;
  close(): void;
}

interface Needs {
  /** None for a database in memory. */
  file?: string | undefined;
  /** What a database in memory begins as; empty unless given. */
  image?: Buffer | undefined;
  clock: Clock;
  random: Random;
  webhooks: WebhookRules;
}

export function openStores(needs: Needs): Stores {
  const database = openDatabase(needs.file, needs.image);
  try {
    return openOver(database, needs);
  } catch (error) {
    database.close();
    throw error;
  }
}

function openOver(database: Database, { clock, random, webhooks }: Needs): Stores {
  const counters = openCounters(database, random);
  const tenants = openTenants(database, counters, random, clock);
  const collections = openCollections(database);
  const retention = openRetention(database);
  const outbox = openOutbox({ database, clock, counters, retention, gaps: webhooks.gaps });
  const attempts = openAttempts(database, retention);
  const health = openHealth(database, clock);
  const journal = openJournal(database);
  return {
    database,
    counters,
    tenants,
    collections,
    outbox,
    deliveries: openDeliveries(database, outbox),
    holds: openHolds(database),
    attempts,
    eventLog: openEventLog(database),
    runLog: openRunLog(database),
    health,
    replies: openReplies(database, clock),
    past: openPast(database, clock),
    journal,
    learners: openLearners(database),
    room: openRoom(database),
    callers: callers({ collections, counters, outbox, tenants, attempts, health, webhooks, random }),
    close() {
      journal.close();
      database.close();
    },
  };
}
