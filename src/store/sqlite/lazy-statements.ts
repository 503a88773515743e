// A SQLite connection that is opened when it is first used, and statements that are prepared when they are first
// executed. Trick. Reason: an idle sandbox in memory executes a few of its hundred statements. Figure: without it,
// createSandbox() and its first response take 1.5 times the CPU time.

import type Sqlite from "better-sqlite3";
import { translateError, withTranslatedErrors } from "./sqlite-errors.ts";

export type SqlValue = string | number | bigint | null | undefined;

type ColumnsOf<List extends string> = List extends `${infer First}, ${infer Others}` ? First | ColumnsOf<Others> : List;

export type Insert<List extends string> = (row: Readonly<Record<ColumnsOf<List>, SqlValue>>) => Sqlite.RunResult;

/** The part of better-sqlite3's database that the stores use. */
export interface Sql
  extends Pick<Sqlite.Database, "prepare" | "exec" | "function" | "serialize" | "close" | "open" | "inTransaction"> {
  /** Closes the connection. The next use opens one with `open`, and prepares statements again. */
  reconnect(open: () => Sqlite.Database): void;
  /**
   * Copies the database into a new file, `pages` pages in a turn of the event loop. The copy includes writes made
   * meanwhile.
   */
  backup(file: string, pages: number): Promise<unknown>;
  /**
   * Prepares `into (list) values (…)`, for example with `insert or ignore into logins` and `email, merchant, password`.
   */
  insert<const List extends string>(into: string, list: List): Insert<List>;
  /** The text of every statement so far, executed or not. Tests check how SQLite plans each one. */
  readonly statements: ReadonlySet<string>;
}

/**
 * Opens the connection at its first use. An invalid statement throws when it is first executed, not when it is
 * prepared.
 */
export function openLazily(openFirst: () => Sqlite.Database): Sql {
  let open = openFirst;
  let opened: Sqlite.Database | undefined;
  let closed = false;
  const connection = () => {
    if (closed) throw new TypeError("The database connection is not open");
    opened ??= open();
    return opened;
  };
  const statements = new Set<string>();
  const sql: Sql = {
    statements,
    get open() {
      return !closed;
    },
    get inTransaction() {
      return opened?.inTransaction === true;
    },
    prepare: ((text: string) => {
      statements.add(text);
      return new LazyStatement(connection, text);
    }) as unknown as Sql["prepare"],
    insert(into, list) {
      const insert = sql.prepare(`${into} (${list}) values (${list.replace(/\w+/g, "@$&")})`);
      return (row) => insert.run(row);
    },
    exec(text) {
      return withTranslatedErrors(() => connection().exec(text));
    },
    function: ((...given: Parameters<Sql["function"]>) => connection().function(...given)) as Sql["function"],
    serialize: (options) => connection().serialize(options),
    backup: (file, pages) => connection().backup(file, { progress: () => pages }),
    reconnect(openNext) {
      opened?.close();
      opened = undefined;
      open = openNext;
    },
    close() {
      opened?.close();
      closed = true;
      return this as unknown as Sqlite.Database;
    },
  };
  return sql;
}

/** The part of better-sqlite3's statement that the stores use. A class, because every sandbox has a hundred of them. */
class LazyStatement {
  private readonly connection: () => Sqlite.Database;
  private readonly text: string;
  private isPluck = false;
  private prepared: Sqlite.Statement | undefined = undefined;
  private preparedBy: Sqlite.Database | undefined = undefined;

  constructor(connection: () => Sqlite.Database, text: string) {
    this.connection = connection;
    this.text = text;
  }

  private statement(): Sqlite.Statement {
    const connection = this.connection();
    if (this.prepared && this.preparedBy === connection) return this.prepared;
    const prepared = connection.prepare(this.text);
    this.prepared = this.isPluck ? prepared.pluck() : prepared;
    this.preparedBy = connection;
    return this.prepared;
  }

  pluck(): this {
    this.isPluck = true;
    return this;
  }

  get(...values: unknown[]): unknown {
    return this.execute("get", values);
  }

  all(...values: unknown[]): unknown {
    return this.execute("all", values);
  }

  run(...values: unknown[]): unknown {
    return this.execute("run", values);
  }

  private execute(method: "get" | "all" | "run", values: unknown[]): unknown {
    try {
      return this.statement()[method](...values);
    } catch (error) {
      throw translateError(error);
    }
  }
}
