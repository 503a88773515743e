// Reads one merchant's records of a kind in pages: from the newest, the oldest or a cursor, in any status or in one.

import { fail } from "../../kernel/errors.ts";
import type { Behaviour } from "../../schema/assumed.ts";
import type { PageQuery } from "../../schema/shapes.ts";
import type { Database } from "../sqlite/database.ts";

/** A list reply. */
export interface Page<R> {
  object: "list";
  data: R[];
  has_more: boolean;
}

/** Builds a page from rows in the order of the query. Reads one row beyond the limit to know whether there are more. */
export function pageOf<R>(rows: readonly R[], limit: number, { ending_before }: PageQuery): Page<R> {
  const data = rows.slice(0, limit);
  if (ending_before !== undefined) data.reverse();
  return { object: "list", data, has_more: rows.length > limit };
}

export interface RecordQuery extends PageQuery {
  /** Only records in this status (default: all). */
  status?: string | undefined;
}

export interface RecordPosition {
  sequence: number;
  created: number;
}

export const DEFAULT_PAGE = 25;

type ListQuery = {
  merchant: string;
  kind: string;
  limit: number;
  status?: string;
  created?: number;
  sequence?: number;
};

const OF_MERCHANT = "merchant = @merchant and kind = +@kind";

export function openRecordPages({ sql }: Database) {
  const position = sql.prepare<[{ merchant: string; kind: string; id: string }], RecordPosition>(
    `select sequence, created from documents where ${OF_MERCHANT} and id = @id`,
  );
  const inAnyStatus = prepareLists(sql, "");
  const inStatus = prepareLists(sql, " and status = +@status");

  return {
    position: (kind: string, merchant: string, id: string) => position.get({ merchant, kind, id }),
    newest: (kind: string, merchant: string) => inAnyStatus.first.get({ merchant, kind, limit: 1 }),
    /** One page of records, as they are stored. */
    read(kind: string, merchant: string, query: RecordQuery): Page<string> {
      const { limit = DEFAULT_PAGE, status } = query;
      const wanted = status === undefined ? { merchant, kind } : { merchant, kind, status };
      const lists = status === undefined ? inAnyStatus : inStatus;
      const after = query.starting_after ?? query.ending_before;
      let bodies: string[];
      if (after === undefined) bodies = lists.first.all({ ...wanted, limit: limit + 1 });
      else {
        const cursor = position.get({ merchant, kind, id: after });
        if (!cursor) return failInvalidCursor(query, kind);
        const { created, sequence } = cursor;
        const { sameSecond, others } = besideCursor(lists, query);
        bodies = sameSecond.all({ ...wanted, created, sequence, limit: limit + 1 });
        if (bodies.length <= limit)
          bodies.push(...others.all({ ...wanted, created, limit: limit + 1 - bodies.length }));
      }
      return pageOf(bodies, limit, query);
    },
  };
}

type Lists = ReturnType<typeof prepareLists>;

/** The records before or after the cursor, the nearest first. */
const besideCursor = ({ older, newer }: Lists, { ending_before }: RecordQuery) =>
  ending_before === undefined ? older : newer;

/** Prepares the lists of records that also meet the condition `filter`. */
function prepareLists(sql: Database["sql"], filter: string) {
  const list = (where: string, order: string) =>
    sql
      .prepare<[ListQuery], string>(
        `select body from documents where ${OF_MERCHANT}${where}${filter}
        order by created ${order}, sequence ${order} limit @limit + 0`,
      )
      .pluck();
  return {
    first: list("", "desc"),
    // A page beside a cursor takes two statements. With a single statement on (created, sequence), SQLite would scan
    // all records of the cursor's second, and with a frozen clock, that second has all records.
    older: {
      sameSecond: list(" and created = @created and sequence < @sequence", "desc"),
      others: list(" and created < @created", "desc"),
    },
    newer: {
      sameSecond: list(" and created = @created and sequence > @sequence", "asc"),
      others: list(" and created > @created", "asc"),
    },
  };
}

/** Fails with the same message if the record belongs to another merchant and if it does not exist. */
export function failInvalidCursor(query: PageQuery, kind: string, owner = "of yours"): never {
  const name = query.ending_before === undefined ? "starting_after" : "ending_before";
  fail("invalid_cursor", `${name} must be the id of a ${kind} ${owner}; received ${JSON.stringify(query[name])}.`, {
    field: name,
    received: query[name],
  });
}

export const behaviours: Behaviour[] = [
  {
    id: "lists.order",
    fact:
      "Lists are ordered newest first: by `created`, then by the order in which the records were made. After the " +
      "clock was set back, new records still come first.",
    why: "The service's documentation orders only the delivery log; the other lists use the same order.",
  },
  {
    id: "lists.cursors",
    fact:
      "`starting_after` and `ending_before` are ids and exclude the object itself; sending both, or an unknown id, " +
      "gets 400. `limit` outside its bounds gets 400 and is not clamped.",
    why: "The service's documentation has `has_more` but no cursor; a silent clamp would hide a mistake.",
  },
];
