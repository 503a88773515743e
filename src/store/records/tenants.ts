// Who may call: merchants as tenants, their API keys, and the sessions that their logins give.

import { createBoundedCache } from "../../kernel/bounded-cache.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Random } from "../../kernel/random.ts";
import type { Database } from "../sqlite/database.ts";
import type { Counters } from "./id-counters.ts";
import { type Logins, openLogins } from "./logins.ts";

export interface Identity {
  merchant: string;
  key: string;
  kind: "key" | "session";
  /** Sandbox milliseconds; null for keys, which do not expire. */
  expires: number | null;
  /** The state of the merchant; one that is suspended may not call. */
  status: string;
}

export interface Tenant {
  id: string;
  name: string | null;
  email: string | null;
  apiKeys: string[];
}

export interface Tenants extends Logins {
  /** Whose key this is; answered from memory after the first time. */
  identify(key: string): Identity | undefined;
  /** Every merchant with its API keys, session tokens left out: in the order in which they came, those of the API after those of fixtures. */
  list(): Tenant[];
  addKey(merchant: string, key: string): void;
  mintKey(merchant: string): string;
  /** Drops what memory holds: to be called when a key went away or a merchant changed its state. */
  clearCache(): void;
  openSession(merchant: string): { token: string; expiresIn: number };
}

const SESSION_SECONDS = 3_600;
/** Beyond so many keys memory holds none: whoever logs in for each call fills no memory. */
const MOST_KNOWN = 5_000;
const KEY_LENGTH = 24;
const SESSION_LENGTH = 24;

export function openTenants(database: Database, counters: Counters, random: Random, clock: Clock): Tenants {
  const { sql } = database;
  const identities = createBoundedCache<Identity>(MOST_KNOWN);
  const byKey = sql.prepare<[string], Identity>(
    `select keys.merchant, key, keys.kind, expires, documents.status from keys
     join documents on documents.merchant = keys.merchant and documents.kind = 'merchant' where key = ?`,
  );
  const listMerchants = sql.prepare<[], { id: string; name: string | null; email: string | null; apiKeys: string }>(
    `select id, body ->> 'name' as name, body ->> 'email' as email,
       (select json_group_array(key) from (select key from keys where keys.merchant = documents.merchant and keys.kind = 'key' order by sequence)) as apiKeys
     from documents where kind = 'merchant'
     order by (select place from origins where origins.merchant = documents.merchant) nulls last, sequence`,
  );
  const insertKey = sql.prepare("insert into keys (key, merchant, kind, expires) values (?, ?, ?, ?)");
  return {
    ...openLogins(database, random),
    identify(key) {
      const known = identities.get(key);
      if (known) return known;
      const identity = byKey.get(key);
      if (identity) identities.set(key, identity);
      return identity;
    },
    list: () => listMerchants.all().map((tenant) => ({ ...tenant, apiKeys: JSON.parse(tenant.apiKeys) as string[] })),
    addKey(merchant, key) {
      insertKey.run(key, merchant, "key", null);
    },
    mintKey(merchant) {
      const key = `sk_test_${random.text(KEY_LENGTH, "key", merchant, counters.next(merchant, "key"))}`;
      insertKey.run(key, merchant, "key", null);
      return key;
    },
    clearCache: () => identities.clear(),
    openSession(merchant) {
      const token = `sk_test_session_${random.text(SESSION_LENGTH, "session", merchant, counters.next(merchant, "session"))}`;
      insertKey.run(token, merchant, "session", clock.now() + SESSION_SECONDS * 1_000);
      return { token, expiresIn: SESSION_SECONDS };
    },
  };
}
