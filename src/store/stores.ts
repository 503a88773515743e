// Every store over one database: opened together, emptied together, closed together.

import type { Clock } from "../kernel/clock.ts";
import type { Dice } from "../kernel/random.ts";
import { type Callers, callers } from "./caller.ts";
import { type Collections, openCollections } from "./collection.ts";
import { type Counters, openCounters } from "./counters.ts";
import { type Database, openDatabase } from "./database.ts";
import { type Journal, openJournal } from "./journal.ts";
import { type Outbox, openOutbox } from "./outbox.ts";
import { openReplies, type Replies } from "./replies.ts";
import { openTenants, type Tenants } from "./tenants.ts";

export interface Stores {
  database: Database;
  counters: Counters;
  tenants: Tenants;
  collections: Collections;
  outbox: Outbox;
  replies: Replies;
  journal: Journal;
  callers: Callers;
  close(): void;
}

export function openStores(file: string | undefined, clock: Clock, dice: Dice, allowedAttempts: () => number): Stores {
  const database = openDatabase(file);
  const counters = openCounters(database, dice);
  const tenants = openTenants(database, counters, dice, clock);
  const collections = openCollections(database);
  const outbox = openOutbox(database, clock, counters, allowedAttempts);
  const journal = openJournal(database);
  return {
    database,
    counters,
    tenants,
    collections,
    outbox,
    replies: openReplies(database, clock),
    journal,
    callers: callers({ collections, counters, outbox, tenants, dice }),
    close() {
      journal.close();
      database.close();
    },
  };
}
