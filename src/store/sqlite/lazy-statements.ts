// What SQLite does when it is first needed: a database is opened, and a statement is read. Whoever starts pays for what it uses.

import type Sqlite from "better-sqlite3";
import { translateError, withTranslatedErrors } from "./sqlite-errors.ts";

/** Of a database, what the stores use. */
export interface Sql
  extends Pick<Sqlite.Database, "prepare" | "exec" | "transaction" | "function" | "serialize" | "close" | "open" | "inTransaction"> {
  /** Every statement that was asked for, used or not: so that each can be asked how it would be carried out. */
  readonly statements: ReadonlySet<string>;
}

/** A mistake in a statement shows where it is first used. */
export function openLazily(openNow: () => Sqlite.Database): Sql {
  let opened: Sqlite.Database | undefined;
  let closed = false;
  const sql = () => {
    if (closed) throw new TypeError("The database connection is not open");
    opened ??= openNow();
    return opened;
  };
  const prepare = (text: string) => sql().prepare(plannedOnce(text));
  const asked = new Set<string>();
  return {
    get statements() {
      return new Set([...asked].map(plannedOnce));
    },
    get open() {
      return !closed;
    },
    get inTransaction() {
      return opened?.inTransaction === true;
    },
    prepare: ((text: string) => {
      asked.add(text);
      return new LazyStatement(prepare, text);
    }) as unknown as Sql["prepare"],
    exec: (text) => withTranslatedErrors(() => sql().exec(text)),
    transaction: (work) => sql().transaction(work),
    function: ((...given: Parameters<Sql["function"]>) => sql().function(...given)) as Sql["function"],
    serialize: (options) => sql().serialize(options),
    close() {
      opened?.close();
      closed = true;
      return this as unknown as Sqlite.Database;
    },
  };
}

/**
 * SQLite, as better-sqlite3 builds it, looks at the values that are bound when it plans, and so plans a statement anew whenever
 * others are bound: that takes several times as long as the query. Behind a sign or in a sum it does not see them. An index of
 * some rows only is then found by what a statement says itself.
 */
function plannedOnce(text: string): string {
  const [head = "", ...conditions] = text.split(/\b(?=where\b)/);
  return (
    head +
    conditions
      .map((one) => one.replaceAll(/(?<!limit )([?@:])/g, "+$1"))
      .join("")
      .replaceAll(/\blimit ([?@]\w*)/g, "limit $1 + 0")
  );
}

type Prepare = (text: string) => Sqlite.Statement;

/** Of a statement, what the stores use. A class, because there are a hundred of them in every sandbox. */
class LazyStatement {
  private readonly prepare: Prepare;
  private readonly text: string;
  private shape: "pluck" | "raw" | undefined = undefined;
  private made: Sqlite.Statement | undefined = undefined;

  constructor(prepare: Prepare, text: string) {
    this.prepare = prepare;
    this.text = text;
  }

  private statement(): Sqlite.Statement {
    if (this.made) return this.made;
    const made = this.prepare(this.text);
    this.made = this.shape ? made[this.shape]() : made;
    return this.made;
  }

  pluck(): this {
    this.shape = "pluck";
    return this;
  }

  raw(): this {
    this.shape = "raw";
    return this;
  }

  get(...values: unknown[]): unknown {
    try {
      return this.statement().get(...values);
    } catch (error) {
      throw translateError(error);
    }
  }

  all(...values: unknown[]): unknown[] {
    try {
      return this.statement().all(...values);
    } catch (error) {
      throw translateError(error);
    }
  }

  run(...values: unknown[]): Sqlite.RunResult {
    try {
      return this.statement().run(...values);
    } catch (error) {
      throw translateError(error);
    }
  }
}
