// The log of events, newest first, with the states of their deliveries.

import type { PageQuery } from "../../schema/shapes.ts";
import { DEFAULT_PAGE, failInvalidCursor, type Page, pageOf } from "../records/record-pages.ts";
import type { Database } from "../sqlite/database.ts";

export interface LoggedEvent {
  id: string;
  merchant: string;
  type: string;
  /** Sandbox milliseconds. */
  created: number;
  /** The request that emitted the event; null when no request did. */
  request: string | null;
  origin: "event" | "test" | "clock";
  /** The span of that request, as a `traceparent`; null without a trace. */
  trace: string | null;
  /** The JSON that every delivery sends. */
  body: string;
  pending: number;
  succeeded: number;
  failed: number;
  cancelled: number;
}

export interface EventQuery extends PageQuery {
  merchant?: string | undefined;
  type?: string | undefined;
}

const counted = (state: string) =>
  `(select count(*) from deliveries d where d.event = e.sequence and d.state ${state})`;
const EVENT = `select e.id, e.merchant, e.type, e.created, e.request, e.origin, e.trace, e.body,
  ${counted("in ('pending', 'sending')")} as pending, ${counted("= 'succeeded'")} as succeeded,
  ${counted("= 'failed'")} as failed, ${counted("= 'cancelled'")} as cancelled from events e`;

export function openEventLog({ sql }: Database) {
  const list = (whose: string, beyond: string, order: string) =>
    sql.prepare<[Record<string, unknown>], LoggedEvent>(
      `${EVENT} where ${whose} and (@type is null or e.type = @type) and ${beyond} ` +
        `order by e.sequence ${order} limit @limit + 0`,
    );
  const lists = (whose: string) => ({
    older: list(whose, "e.sequence < @place", "desc"),
    newer: list(whose, "e.sequence > @place", "asc"),
  });
  const ofAll = lists("@merchant is null");
  const ofOne = lists("e.merchant = @merchant");
  const placeOf = sql.prepare<[string], number>("select sequence from events where id = ?").pluck();
  const find = sql.prepare<[{ id: string; merchant: string | null }], LoggedEvent>(
    `${EVENT} where e.id = @id and e.merchant = coalesce(@merchant, e.merchant)`,
  );
  const causedBy = sql.prepare<[string], LoggedEvent>(`${EVENT} where e.request = ? order by e.sequence`);
  // Repeats the condition and the expression of the partial index, so that SQLite uses it.
  const ofTrace = sql.prepare<[{ trace: string; limit: number }], LoggedEvent>(
    `${EVENT} where e.trace is not null and substr(e.trace, 4, 32) = @trace order by e.sequence limit @limit + 0`,
  );
  const naming = sql.prepare<[{ quoted: string; merchant: string | null; limit: number }], LoggedEvent>(
    `${EVENT} where instr(e.body, @quoted) and (@merchant is null or e.merchant = @merchant)
     order by e.sequence desc limit @limit + 0`,
  );
  return {
    /**
     * The newest events whose body contains this id, of the event's own record or of a record to which that record
     * refers.
     */
    naming: (id: string, merchant: string | null, limit: number) =>
      naming.all({ quoted: JSON.stringify(id), merchant, limit }),
    /** The events that a request caused, oldest first. */
    causedBy: (request: string) => causedBy.all(request),
    /** The first events of the requests of a trace, oldest first. */
    ofTrace: (trace: string, limit: number) => ofTrace.all({ trace, limit }),
    find: (id: string, merchant: string | null = null) => find.get({ id, merchant }),
    page(query: EventQuery): Page<LoggedEvent> {
      const {
        merchant = null,
        type = null,
        limit = DEFAULT_PAGE,
        ending_before: before,
        starting_after: after = before,
      } = query;
      const place =
        after === undefined ? Number.MAX_SAFE_INTEGER : (placeOf.get(after) ?? failInvalidCursor(query, "event"));
      const { older, newer } = merchant === null ? ofAll : ofOne;
      const rows = (before === undefined ? older : newer).all({ merchant, type, place, limit: limit + 1 });
      return pageOf(rows, limit, query);
    },
  };
}
