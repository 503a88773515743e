// Statements that SQLite reads when they are first used: whoever opens a database pays for those that it needs.

import type Sqlite from "better-sqlite3";

/** Makes `sql.prepare` answer at once. A mistake in a statement shows where it is first used. */
export function prepareLate(sql: Sqlite.Database): void {
  const prepare = sql.prepare.bind(sql) as Prepare;
  sql.prepare = ((text: string) => new LateStatement(prepare, text)) as unknown as Sqlite.Database["prepare"];
}

type Prepare = (text: string) => Sqlite.Statement;

/** Of a statement, what the stores use. A class, because there are a hundred of them in every sandbox. */
class LateStatement {
  readonly #prepare: Prepare;
  readonly #text: string;
  #plucks = false;
  #made: Sqlite.Statement | undefined;

  constructor(prepare: Prepare, text: string) {
    this.#prepare = prepare;
    this.#text = text;
  }

  get #statement(): Sqlite.Statement {
    this.#made ??= this.#plucks ? this.#prepare(this.#text).pluck() : this.#prepare(this.#text);
    return this.#made;
  }

  pluck(): this {
    this.#plucks = true;
    return this;
  }

  get(...values: unknown[]): unknown {
    return this.#statement.get(...values);
  }

  all(...values: unknown[]): unknown[] {
    return this.#statement.all(...values);
  }

  run(...values: unknown[]): Sqlite.RunResult {
    return this.#statement.run(...values);
  }
}
