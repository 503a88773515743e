// Merchants as tenants: their API keys, their logins (e-mail addresses, compared without regard to case, and hashed
// passwords), and session tokens.

import { createHash, scryptSync, timingSafeEqual } from "node:crypto";
import { createBoundedCache } from "../../kernel/bounded-cache.ts";
import type { Clock } from "../../kernel/clock.ts";
import { closestMatch } from "../../kernel/did-you-mean.ts";
import { fail } from "../../kernel/errors.ts";
import { once } from "../../kernel/once.ts";
import { createRandom, type Random } from "../../kernel/random.ts";
import type { Behaviour } from "../../schema/assumed.ts";
import type { Database } from "../sqlite/database.ts";
import type { Counters } from "./id-counters.ts";

export interface Identity {
  merchant: string;
  key: string;
  /** Sandbox milliseconds; null for keys, which do not expire. */
  expires: number | null;
  /** The status of the merchant; requests of a suspended one are rejected. */
  status: string;
}

export interface Tenant {
  id: string;
  name: string | null;
  email: string | null;
  apiKeys: string[];
}

/** The status of a merchant, and how many rows it has. */
export interface TenantSummary {
  status: string;
  /** The number of the merchant's records of all kinds. */
  records: number;
  /** The number of the merchant's requests in the request log. */
  requests: number;
}

export type Tenants = ReturnType<typeof openTenants>;

/** The lifetime of a session token. */
export const SESSION_SECONDS = 3_600;
const SESSION_PREFIX = "sk_test_session_";
/** A session token is stored only as this hash. The hash lacks the prefix of keys, so it cannot be used as a key. */
const hashOf = (token: string) => createHash("sha256").update(token).digest("hex");
/** Bounded, because a client that logs in for each call adds a session token each time. */
const MOST_CACHED = 5_000;
const KEY_LENGTH = 24;
const SESSION_LENGTH = 24;

export function openTenants(database: Database, counters: Counters, random: Random, clock: Clock) {
  const { sql } = database;
  const identities = createBoundedCache<Identity>(MOST_CACHED);
  const byKey = sql.prepare<[string], Identity>(
    `select keys.merchant, key, expires, documents.status from keys
     join documents on documents.merchant = keys.merchant and documents.kind = 'merchant' where key = ?`,
  );
  const insertKey = sql.insert("insert into keys", "key, merchant, kind, expires");
  const firstKey = sql
    .prepare<[string], string>("select key from keys where merchant = ? and kind = 'key' order by sequence")
    .pluck();
  const keyOf = (merchant: string) => firstKey.get(merchant) ?? "";
  const find = (key: string) => byKey.get(key.startsWith(SESSION_PREFIX) ? hashOf(key) : key);
  /** The first key that is unused. A snapshot may have more keys than its count says. */
  const unused = (make: () => string) => {
    let key = make();
    while (find(key)) key = make();
    return key;
  };
  return {
    ...openLogins(database),
    ...openMerchants(database),
    /**
     * The merchant of a key. Trick: cached. Reason: every call looks one up. Figure: otherwise a GET costs 1.1 to 1.25
     * times the CPU time.
     */
    identify(key: string) {
      const known = identities.get(key);
      if (known) return known;
      const row = find(key);
      if (!row) return undefined;
      const identity = { ...row, key };
      identities.set(key, identity);
      return identity;
    },
    addKey(merchant: string, key: string) {
      insertKey({ key, merchant, kind: "key", expires: null });
    },
    /** The first key of a merchant, from which its secrets are derived too. */
    keyOf,
    mintKey(merchant: string, creator: string) {
      const key = unused(
        () => `sk_test_${random.text(KEY_LENGTH, "key", merchant, counters.next(merchant, "key"), keyOf(creator))}`,
      );
      insertKey({ key, merchant, kind: "key", expires: null });
      return key;
    },
    /** Call after a key was removed or the status of a merchant changed. */
    clearCache: () => identities.clear(),
    openSession(merchant: string) {
      const token = unused(
        () =>
          SESSION_PREFIX +
          random.text(SESSION_LENGTH, "session", merchant, counters.next(merchant, "session"), keyOf(merchant)),
      );
      insertKey({ key: hashOf(token), merchant, kind: "session", expires: clock.now() + SESSION_SECONDS * 1_000 });
      return { token, expiresIn: SESSION_SECONDS };
    },
  };
}

/** Weak on purpose (0.1 ms per hash): hashing delays the start, and these passwords protect nothing real. */
const SCRYPT = { N: 64, r: 8, p: 1 };

/** An e-mail address as logins store and compare it. */
export const emailKey = (email: string) => email.toLowerCase();

function openLogins({ sql }: Database) {
  const insertLogin = sql.insert("insert or ignore into logins", "email, merchant, password");
  const byEmail = sql.prepare<[string], { merchant: string; password: string | null }>(
    "select merchant, password from logins where email = ?",
  );

  return {
    /** `stored` is the hash of the password, if another login of the same fixture has computed it. */
    addLogin(email: string, merchant: string, password: string | undefined, stored = hashOrNull(password, merchant)) {
      const { changes } = insertLogin({ email: emailKey(email), merchant, password: stored });
      if (changes === 0)
        fail("already_exists", `A merchant with the e-mail address ${email} exists already.`, {
          fields: ["email"],
          values: { email },
        });
    },
    /** The merchant that logs in; otherwise 401, with one message for a wrong address and a wrong password. */
    checkLogin(email: string | undefined, password: string | undefined) {
      const login = email === undefined ? undefined : byEmail.get(emailKey(email));
      if (!login?.password || password === undefined || !matches(password, login.password))
        fail(
          "invalid_credentials",
          "The e-mail address or the password is wrong. GET /_sandbox lists the addresses; the password of lodge is " +
            "lodge-password, and so on.",
        );
      return login.merchant;
    },
  };
}

/** Independent of the sandbox's seed, so that the seeded fixtures are the same for every seed. */
const salts = createRandom(0);

const hash = (password: string, salt: string) => `${salt}$${scryptSync(password, salt, 32, SCRYPT).toString("hex")}`;

const hashOrNull = (password: string | undefined, merchant: string): string | null =>
  password === undefined ? null : hash(password, salts.hex(16, "salt", merchant));

function matches(password: string, stored: string): boolean {
  return timingSafeEqual(Buffer.from(hash(password, stored.split("$")[0] ?? "")), Buffer.from(stored));
}

interface MerchantRow extends Omit<Tenant, "apiKeys"> {
  /** As JSON. */
  apiKeys: string;
}

/** SQLite reads a negative limit as no limit. */
const ALL = -1;

/** Reads merchants and their number of rows. */
function openMerchants({ sql, onReplaced }: Database) {
  const merchants = `select id, body ->> 'name' as name, body ->> 'email' as email,
       (select json_group_array(key) from (select key from keys
         where keys.merchant = documents.merchant and keys.kind = 'key' order by sequence)) as apiKeys
     from documents where kind = 'merchant'`;
  const listMerchants = sql.prepare<[number], MerchantRow>(
    `${merchants} order by (select place from seeded_merchants
      where seeded_merchants.merchant = documents.merchant) nulls last, sequence limit ? + 0`,
  );
  const countMerchants = sql.prepare<[], number>("select count(*) from documents where kind = 'merchant'").pluck();
  const findMerchant = sql.prepare<[string], MerchantRow>(`${merchants} and merchant = ?`);
  const summarise = sql.prepare<[{ id: string }], Omit<TenantSummary, "records">>(
    `select status, (select count(*) from request_log where merchant = @id) as requests
     from documents where merchant = @id and kind = 'merchant'`,
  );
  let recordCounts = once(() => openRecordCounts(sql));
  onReplaced(() => {
    recordCounts = once(() => openRecordCounts(sql));
  });
  const exists = sql.prepare<[string]>("select 1 from documents where merchant = ? and kind = 'merchant'");
  const firstMerchant = sql
    .prepare<[], string | null>(
      `select coalesce((select merchant from seeded_merchants where place = (select min(place) from seeded_merchants)),
         (select id from documents
         where sequence = (select min(sequence) from documents where kind = 'merchant'))) as id`,
    )
    .pluck();
  const has = (merchant: string) => exists.get(merchant) !== undefined;
  const withKeys = (row: MerchantRow) => ({ ...row, apiKeys: JSON.parse(row.apiKeys) as string[] });
  const list = (most = ALL) => listMerchants.all(most).map(withKeys);
  /** Returns the id of a merchant that exists. */
  const require = (merchant: string) => {
    if (has(merchant)) return merchant;
    const known = list().map(({ id }) => id);
    return fail("resource_not_found", unknownMerchant(merchant, known));
  };
  /** The id of the first merchant of the list; undefined if there is none. */
  const first = () => firstMerchant.get() ?? undefined;
  const base = sql
    .prepare<[string], string>(
      `select base.merchant from seeded_merchants own join seeded_merchants base
         on base.place = (select min(place) from seeded_merchants where fixture = own.fixture)
       where own.merchant = ? and own.merchant <> base.merchant`,
    )
    .pluck();
  const owners = sql
    .prepare<[{ kind: string; id: string; limit: number }], string>(
      `select m.merchant from documents m cross join documents d
         on d.merchant = m.merchant and d.kind = +@kind and d.id = @id
       where m.kind = 'merchant'
       order by (select place from seeded_merchants where seeded_merchants.merchant = m.merchant) nulls last, m.sequence
       limit @limit + 0`,
    )
    .pluck();
  return {
    /** The merchants that have a record of this kind and id, in the order of `list`, at most `limit`. */
    ownersOf: (kind: string, id: string, limit: number) => owners.all({ kind, id, limit }),
    /** The seeded merchant of the fixture that a merchant was created from; undefined for others. */
    baseOf: (merchant: string) => base.get(merchant),
    /**
     * Every merchant with its API keys, but without session tokens. The fixtures' merchants come first, in their order,
     * then merchants created through the API. Returns at most `most` (default: all). The cost grows with the number of
     * merchants, so to look up one, use `find`, `has`, `require`, `first` or `keyOf`.
     */
    list,
    count: () => countMerchants.get() ?? 0,
    find(id: string) {
      const row = findMerchant.get(id);
      return row && withKeys(row);
    },
    summaryOf: (id: string) => ({ ...summarise.get({ id }), records: recordCounts()(id) }) as TenantSummary,
    has,
    require,
    first,
    /** The merchant, or the first one if none is named. */
    requireOrFirst(merchant: string | undefined) {
      if (merchant !== undefined) return require(merchant);
      return first() ?? fail("resource_not_found", "This sandbox has no merchant.");
    },
  };
}

/**
 * Counts the records of a merchant when the count is first needed; triggers then update it. Counting a million records
 * takes 37 ms.
 */
function openRecordCounts(sql: Database["sql"]): (merchant: string) => number {
  sql.exec(KEEP);
  const kept = sql.prepare<[string], number>("select records from temp.record_counts where merchant = ?").pluck();
  const count = sql
    .prepare<[{ id: string }], number>(
      `insert into temp.record_counts select @id, count(*) from main.documents where merchant = @id
       returning records`,
    )
    .pluck();
  return (id) => kept.get(id) ?? count.get({ id }) ?? 0;
}

/** A temporary table of counts: the file stays unchanged, and a rollback restores the counts. */
const KEEP = `
create temp table record_counts (merchant text primary key, records integer not null) without rowid, strict;
create temp trigger records_added after insert on main.documents begin
  update record_counts set records = records + 1 where merchant = new.merchant;
end;
create temp trigger records_removed after delete on main.documents begin
  update record_counts set records = records - 1 where merchant = old.merchant;
end`;

const PREFIX = "mer_";
/** An error message names at most this many merchants: a sandbox for tests may have thousands. */
const MOST_NAMED = 10;

/** The error message about a merchant that does not exist; it names the closest one. */
export function unknownMerchant(wanted: string, known: readonly string[]): string {
  const says = `There is no merchant ${wanted}.`;
  // Compares without the prefix, so that `lodg` is close to mer_lodge.
  const withoutPrefix = (id: string) => id.replace(PREFIX, "");
  const closest = closestMatch(withoutPrefix(wanted), known.map(withoutPrefix));
  if (closest !== undefined) return `${says} Did you mean ${PREFIX}${closest}?`;
  if (known.length === 0) return `${says} This sandbox has none.`;
  const more = known.length > MOST_NAMED ? ` and ${known.length - MOST_NAMED} more` : "";
  return `${says} There are ${known.slice(0, MOST_NAMED).join(", ")}${more}.`;
}

export const behaviours: Behaviour[] = [
  {
    id: "logins.email",
    fact:
      "E-mail addresses of merchants are compared without regard to case, at login and for uniqueness; a response " +
      "shows the address as it was sent.",
    why:
      "The service's documentation does not say; mail providers ignore case, and most services compare addresses " +
      "so.",
  },
];
