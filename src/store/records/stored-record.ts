// Checks stored records that another program may have written, because the API returns them without another check. The
// records of a large file are checked when they are read: parsing a million of them would delay the start by seconds.

import type { Resource } from "../../contracts/resource.ts";
import { tryParseJson } from "../../kernel/attempt.ts";
import { SandboxError } from "../../kernel/errors.ts";
import { isObject } from "../../kernel/json-object.ts";
import { containsLiveKey } from "../../kernel/mask.ts";
import { usable } from "../../schema/as-sent.ts";
import { fieldErrors, matchesSchema } from "../../schema/validator.ts";
import type { Database } from "../sqlite/database.ts";
import type { Sql } from "../sqlite/lazy-statements.ts";

/** With `open`, records may hold values that do not match their schema, because requests may contain them. */
export type Bodies = "checked" | "open";

export const LIVE_KEY = "it holds a live key. Rotate that key";

/** Fields that no request can set to a value of another type. */
const SERVICE_FIELDS = ["id", "object", "merchantId", "status", "created", "livemode"];

/** Why a stored record cannot be returned, as the rest of a sentence; undefined if it can. */
export function wrongBody({ schema, defaults }: Resource, body: string, bodies: Bodies): string | undefined {
  const record = tryParseJson(body);
  if (matchesSchema(schema, record)) return undefined;
  if (!isObject(record)) return "it is not a JSON object";
  const service = Object.fromEntries(
    SERVICE_FIELDS.filter((name) => Object.hasOwn(record, name)).map((name) => [name, record[name]]),
  );
  const [error] = fieldErrors(schema, bodies === "open" ? { ...usable(schema, record, defaults), ...service } : record);
  return error?.message.replace(/\.$/, "");
}

/** The most characters of a value that a message shows. */
const LONGEST = 60;

/** Formats a value of another program's file for a message. */
export function shown(value: unknown): string {
  const text = Buffer.isBuffer(value) ? "bytes" : (JSON.stringify(value) ?? "");
  return containsLiveKey(text) ? "…" : text.slice(0, LONGEST);
}

/** How an error names a row and its column. */
export function invalidRow(table: string, row: Readonly<Record<string, unknown>>, column: string, says: string) {
  const named = Object.entries(row).map(([key, value]) => `${key} ${shown(value)}`);
  const where = column === "" ? "" : ` in the column ${column}`;
  return `holds a row of ${table} (${named.join(", ")}) that is invalid${where}: ${says}`;
}

const LAZY = "'unchecked'";

/** Stores whether the records of this file are still to be checked when they are read. */
export const setUnchecked = (sql: Sql, isUnchecked: boolean): void =>
  void sql.exec(
    isUnchecked
      ? `insert or replace into settings (name, value) values (${LAZY}, 1)`
      : `delete from settings where name = ${LAZY}`,
  );

/** Returns the check of a record, which throws if it is invalid; undefined while all are known to be valid. */
export type StoredCheck = () => ((resource: Resource, merchant: string, body: string) => void) | undefined;

export function openStoredCheck({ sql, file, onReplaced }: Database, bodies: Bodies): StoredCheck {
  const isUnchecked = sql.prepare(`select 1 from settings where name = ${LAZY}`);
  // A database in memory cannot have been changed by another program.
  let isOn = file !== undefined && isUnchecked.get() !== undefined;
  onReplaced(() => {
    isOn = isUnchecked.get() !== undefined;
  });
  const find = sql.prepare<[string, string, string], Record<string, unknown>>(
    "select merchant, kind, id from documents where merchant = ? and kind = +? and body = ?",
  );
  const check = (resource: Resource, merchant: string, body: string) => {
    const wrong = containsLiveKey(body) ? LIVE_KEY : wrongBody(resource, body, bodies);
    if (wrong === undefined) return;
    const row = find.get(merchant, resource.kind, body) ?? { merchant, kind: resource.kind };
    const database = file ?? "The restored snapshot";
    throw new SandboxError(`${database} ${invalidRow("documents", row, "body", wrong)}. ${REMEDY}`, "runtime", {
      code: "database_damaged",
    });
  };
  return () => (isOn ? check : undefined);
}

const REMEDY = "Reset everything, or mend that row while no sandbox has the file open.";
