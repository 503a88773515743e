// Every table of the file. Times are sandbox milliseconds, except inside documents, where they are what the API shows.

/** "MSBX": tells our files from other SQLite files. */
export const APPLICATION_ID = 0x4d534258;

/** Raised with every change below; a file of another version is refused, never converted in silence. */
export const SCHEMA_VERSION = 1;

export const SCHEMA = `
pragma application_id = ${APPLICATION_ID};
pragma user_version = ${SCHEMA_VERSION};

create table settings (name text primary key, value) without rowid;

-- How many ids of a kind a merchant has used: ids are made from these numbers, so they go on where they stopped.
create table counters (merchant text, name text, value integer not null, primary key (merchant, name)) without rowid;

-- Who may call: API keys, which do not expire, and the session tokens of logins, which do.
create table keys (
  sequence integer primary key, key text not null unique, merchant text not null,
  kind text not null check (kind in ('key', 'session')), expires integer
);
create index keys_of on keys (merchant);

-- How a merchant logs in. E-mail addresses are unique among all merchants.
create table logins (email text primary key, merchant text not null, password text) without rowid;

-- Every record of every kind, as the JSON that the API shows. Ids are unique within a merchant, so that each merchant that
-- is minted from a fixture has the same readable ids.
create table documents (
  sequence integer primary key autoincrement,
  merchant text not null, kind text not null, id text not null,
  created integer not null, status text, body text not null,
  unique (merchant, kind, id)
);
create index documents_newest on documents (merchant, kind, created desc, sequence desc);

-- The values that must be unique among a merchant's records of a kind: SKUs, sets of options, e-mail addresses.
create table uniques (
  merchant text, kind text, field text, value text, document integer not null references documents on delete cascade,
  primary key (merchant, kind, field, value)
) without rowid;
create index uniques_of on uniques (document);

-- The answers remembered for an Idempotency-Key.
create table replies (
  merchant text, key text, fingerprint text not null, request text not null,
  status integer not null, body text not null, expires integer not null,
  primary key (merchant, key)
) without rowid;
create index replies_expiring on replies (expires);

-- The outbox. The body of an event is the very text that is signed and sent, at every attempt.
create table events (
  sequence integer primary key autoincrement,
  id text not null, merchant text not null, type text not null, created integer not null,
  origin text not null check (origin in ('event', 'test')), request text, body text not null,
  unique (merchant, id)
);
create index events_by_id on events (id);
create index events_by_request on events (request);

-- Which endpoint wants which type of event; '*' wants all.
create table subscriptions (
  merchant text, type text, endpoint text, primary key (merchant, type, endpoint)
) without rowid;

create table deliveries (
  sequence integer primary key autoincrement,
  merchant text not null, endpoint text not null, event integer not null references events,
  trigger text not null check (trigger in ('event', 'test', 'replay')),
  state text not null check (state in ('pending', 'sending', 'succeeded', 'failed', 'cancelled')),
  attempts integer not null default 0, allowed integer not null, due integer, created integer not null
);
create index deliveries_due on deliveries (due) where state = 'pending';
create index deliveries_open on deliveries (merchant, endpoint, state);
create index deliveries_of on deliveries (event);

create table attempts (
  sequence integer primary key autoincrement,
  id text not null, merchant text not null, endpoint text not null,
  delivery integer not null references deliveries, event integer not null references events,
  event_id text not null, event_type text not null, url text not null,
  trigger text not null check (trigger in ('event', 'retry', 'replay', 'test')),
  attempt integer not null, allowed integer not null,
  status text not null check (status in ('sending', 'succeeded', 'failed', 'aborted')),
  response_status integer, response_body text, response_truncated integer not null default 0,
  error_code text, error_message text, duration real, request_headers text not null,
  next_due integer, note text, created integer not null,
  unique (merchant, id)
);
create index attempts_newest on attempts (merchant, sequence desc);
create index attempts_of on attempts (merchant, endpoint, status, sequence);
create index attempts_of_delivery on attempts (delivery);
create index attempts_by_id on attempts (id);

-- What was asked and answered: bounded, newest kept. It never stands in the way of an answer.
create table journal (
  sequence integer primary key, id text not null, at integer not null, merchant text, operation text,
  method text not null, path text not null, query text not null, status integer not null, duration real not null,
  key text, idempotency_key text, replay_of text, fault text, detail text not null
);
create index journal_of on journal (merchant, sequence);
`;
