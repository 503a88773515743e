// How many records each merchant has: counted at the first question, and from then on kept by triggers, because counting a million takes 37 ms.

import { once } from "../../kernel/once.ts";
import type { Database } from "../sqlite/database.ts";

/** In a temporary table, so that the file stays as it is, a rollback restores the counts, and a sandbox that is never asked keeps none. */
const KEEP = `
create temp table record_counts (merchant text primary key, records integer not null) without rowid, strict;
insert into record_counts select merchant, count(*) from main.documents group by merchant;
create temp trigger records_added after insert on main.documents begin
  insert into record_counts values (new.merchant, 1) on conflict do update set records = records + 1;
end;
create temp trigger records_removed after delete on main.documents begin
  update record_counts set records = records - 1 where merchant = old.merchant;
end`;

export function openRecordCounts({ sql }: Database) {
  const counts = once(() => {
    sql.exec(KEEP);
    return sql.prepare<[string], number>("select records from temp.record_counts where merchant = ?").pluck();
  });
  return {
    /** The records of a merchant, of all kinds. */
    of: (merchant: string) => counts().get(merchant) ?? 0,
  };
}
