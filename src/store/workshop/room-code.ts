// The room of a workshop: the word that opens its door, which outlives a restart and a reset.

import type { Database } from "../sqlite/database.ts";

export interface RoomCode {
  /** Undefined while there is no room. */
  code(): string | undefined;
  open(code: string): void;
  close(): void;
}

export function openRoomCode({ sql }: Database): RoomCode {
  const read = sql.prepare<[], string>("select value from settings where name = 'room'").pluck();
  const write = sql.prepare<[string]>("insert or replace into settings (name, value) values ('room', ?)");
  const remove = sql.prepare("delete from settings where name = 'room'");
  return {
    code: () => read.get(),
    open: (code) => void write.run(code),
    close: () => void remove.run(),
  };
}
