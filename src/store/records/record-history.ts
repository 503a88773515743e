// The history of the records. While a fault rule needs it, temporary triggers keep each replaced row. To read an
// earlier state, a transaction restores the old rows and is rolled back.

import { afterThisTurn, type Clock } from "../../kernel/clock.ts";
import type { Database } from "../sqlite/database.ts";

/** The number of changes that are kept. States before the oldest kept change can no longer be read. */
const MOST_CHANGES = 100_000;

const COLUMNS = "sequence, merchant, kind, id, created, status, body";
const old = COLUMNS.split(", ")
  .map((name) => `old.${name}`)
  .join();

/** Each row of `changes` is a record as it was before a change. `was` is 0 if the change was an insert. */
const KEEP = `
create temp table changes (
  number integer primary key, at integer not null, document integer not null, was integer not null, ${COLUMNS});
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
  "drop trigger temp.record_came; drop trigger temp.record_changed; drop trigger temp.record_went; " +
  "drop trigger temp.changes_bounded; drop table temp.changes;";

/** Thrown to roll back the transaction that restored the old rows. */
const undone = Symbol("undone");

export function openRecordHistory(database: Database, clock: Clock) {
  const { sql } = database;
  let keeping = false;
  let wanted = false;
  const begin = () => {
    sql.function("sandbox_now", { deterministic: false }, () => clock.now());
    sql.exec(KEEP);
    keeping = true;
  };
  const end = () => {
    if (wanted || !keeping || !sql.open) return;
    sql.exec(FORGET);
    keeping = false;
  };
  /** Restores the rows of `time`: each record that changed later gets back the row from before its first change. */
  const goBack = (time: number) => {
    const first = `select min(number) from changes where at > ${Math.trunc(time)} group by document`;
    sql.exec(`create temp table then_was as select * from changes where number in (${first});
      delete from main.documents where sequence in (select document from then_was);
      insert into main.documents (${COLUMNS}) select ${COLUMNS} from then_was where was = 1;`);
  };
  database.onReplaced(() => {
    keeping = false;
    if (wanted) begin();
  });
  return {
    /** Starts or stops recording changes. States before the start cannot be read. */
    keep(next: boolean) {
      wanted = next;
      if (wanted && !keeping) begin();
      // Deferred: the request that used up the rule still has to read the history.
      if (!wanted && keeping) afterThisTurn(end);
    },
    /** Runs `work`, which only reads, on the records as they were at `time`. */
    asOf(time: number, work: () => void) {
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
