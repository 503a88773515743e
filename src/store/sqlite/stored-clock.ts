// The clock in a database file: without --clock, a sandbox continues from the time that an earlier process reached.

import { tryParseJson } from "../../kernel/attempt.ts";
import { type Clock, LATEST_TIME } from "../../kernel/clock.ts";
import { oneOf, type Static, Type } from "../../schema/shapes.ts";
import { matchesSchema } from "../../schema/validator.ts";
import type { Database } from "./database.ts";

const Position = Type.Object({
  mode: oneOf(["frozen", "offset"], "The mode of a clock that does not follow this machine"),
  milliseconds: Type.Integer({ minimum: -LATEST_TIME, maximum: LATEST_TIME }),
});

/** `isSet`: an option sets the clock of this start. */
export function openStoredClock({ sql, file, isTrusted, transaction }: Database, clock: Clock, isSet: boolean) {
  const write = sql.prepare<[string]>("insert or replace into settings (name, value) values ('clock', ?)");
  const remove = sql.prepare("delete from settings where name = 'clock'");
  const read = sql.prepare<[], string>("select value from settings where name = 'clock'").pluck();
  if (file !== undefined && !isSet && isTrusted()) {
    const found = tryParseJson(read.get());
    if (matchesSchema(Position, found)) clock.resume(found as Static<typeof Position>);
  }
  return {
    /** Stores the clock. Call after it was set or advanced, before the response. */
    keep() {
      const position = clock.position();
      if (file === undefined) return;
      transaction(() => (position === null ? remove.run() : write.run(JSON.stringify(position))));
    },
  };
}
