// The code with which participants join a workshop. A restart and a reset keep it.

import type { Database } from "../sqlite/database.ts";

export function openRoomCode({ sql }: Database) {
  const read = sql.prepare<[], string>("select value from settings where name = 'room'").pluck();
  const write = sql.prepare<[string]>("insert or replace into settings (name, value) values ('room', ?)");
  const remove = sql.prepare("delete from settings where name = 'room'");
  return {
    /** Undefined while no workshop is open. */
    code: () => read.get(),
    open: (code: string) => void write.run(code),
    close: () => void remove.run(),
  };
}
