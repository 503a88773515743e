// The records as they were a while ago: kept only while somebody wants to look back, and looked at without touching the present.

import { afterThisTurn, type Clock } from "../../kernel/clock.ts";
import { once } from "../../kernel/once.ts";
import type { Database } from "../sqlite/database.ts";

export interface RecordHistory {
  /** Begins or ends to keep what changes. What was before it began is not known. */
  keep(wanted: boolean): void;
  /** Runs `work`, which only reads, on the records as they were at a time. */
  asOf(time: number, work: () => void): void;
}

/** What is kept at most; beyond it, looking back reaches less far. */
const MOST_CHANGES = 100_000;

const COLUMNS = "sequence, merchant, kind, id, created, status, body";
const old = COLUMNS.split(", ")
  .map((name) => `old.${name}`)
  .join();

/** Each change notes what stood there before: nothing (null), or the row. */
const KEEP = `
create temp table changes (number integer primary key, at integer not null, document integer not null, was integer not null, ${COLUMNS});
create temp trigger record_came after insert on main.documents begin
  insert into changes (at, document, was) values (sandbox_now(), new.sequence, 0);
end;
create temp trigger record_changed after update on main.documents begin
  insert into changes (at, document, was, ${COLUMNS}) values (sandbox_now(), old.sequence, 1, ${old});
end;
create temp trigger record_went after delete on main.documents begin
  insert into changes (at, document, was, ${COLUMNS}) values (sandbox_now(), old.sequence, 1, ${old});
end;
create temp trigger changes_bounded after insert on changes when new.number % 1000 = 0 begin
  delete from changes where number <= new.number - ${MOST_CHANGES};
end;`;
const FORGET =
  "drop trigger temp.record_came; drop trigger temp.record_changed; drop trigger temp.record_went; drop trigger temp.changes_bounded; drop table temp.changes;";

/** Thrown to undo what going back did to the tables. */
const undone = Symbol("undone");

export function openRecordHistory(database: Database, clock: Clock): RecordHistory {
  const { sql } = database;
  let keeping = false;
  let wanted = false;
  const tellTime = once(() => sql.function("sandbox_now", { deterministic: false }, () => clock.now()));
  const begin = () => {
    tellTime();
    sql.exec(KEEP);
    keeping = true;
  };
  const end = () => {
    if (wanted || !keeping || !sql.open) return;
    sql.exec(FORGET);
    keeping = false;
  };
  /** Puts back, of each record that changed since, the row that stood there first. */
  const goBack = (time: number) => {
    const first = `select min(number) from changes where at > ${Math.trunc(time)} group by document`;
    sql.exec(`create temp table then_was as select * from changes where number in (${first});
      delete from main.documents where sequence in (select document from then_was);
      insert into main.documents (${COLUMNS}) select ${COLUMNS} from then_was where was = 1;`);
  };
  return {
    keep(next) {
      wanted = next;
      if (wanted && !keeping) begin();
      // Not at once: the read that was the last to look back has yet to do so.
      if (!wanted && keeping) afterThisTurn(end);
    },
    asOf(time, work) {
      if (!keeping) return work();
      try {
        database.transaction(() => {
          goBack(time);
          work();
          throw undone;
        });
      } catch (error) {
        if (error !== undone) throw error;
      }
    },
  };
}
