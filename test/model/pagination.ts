// Cursor pagination: newest first, forwards or backwards from a record of the calling merchant.

import { type Call, refuse } from "./call.ts";
import { newestFirst } from "./world.ts";

interface Listed {
  id: string | undefined;
  created: number;
}

export interface Page<R> {
  object: "list";
  data: R[];
  has_more: boolean;
}

export const PAGE_NAMES = ["limit", "starting_after", "ending_before"];

/** The page that a validated query asks for. */
export const pageOf = <R extends Listed>(call: Call, records: readonly R[]): Page<R> =>
  page(call, newestFirst(records));

/** A page of a sorted list. The cursor may be any record of `all`, but only records of `listed` are returned. */
export function page<R extends Listed>({ query }: Call, listed: readonly R[], all: readonly R[] = listed): Page<R> {
  const limit = Number(query.get("limit") ?? 25);
  const after = query.get("starting_after");
  const before = query.get("ending_before");
  const cursor = after ?? before;
  const place = cursor === undefined ? -1 : all.findIndex(({ id }) => id === cursor);
  if (cursor !== undefined && place === -1) refuse("invalid_cursor");
  const placeOf = (record: R) => all.indexOf(record);
  const beyond = listed.filter((record) => (before === undefined ? placeOf(record) > place : placeOf(record) < place));
  const data = before === undefined ? beyond.slice(0, limit) : beyond.slice(-limit);
  return { object: "list", data, has_more: beyond.length > limit };
}

/** Rejects an invalid list query, and returns the unknown parameters. */
export function checkQuery(sent: URLSearchParams, known: readonly string[]): string[] {
  for (const name of known) {
    if (sent.getAll(name).length <= 1) continue;
    if (name === "limit") refuse("invalid_limit");
    refuse(PAGE_NAMES.includes(name) ? "invalid_cursor" : "validation_failed");
  }
  const limit = known.includes("limit") ? sent.get("limit") : null;
  if (limit !== null && !(/^-?\d{1,15}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= 100))
    refuse("invalid_limit");
  if (known.includes("status") && !["succeeded", "failed", "aborted", null].includes(sent.get("status")))
    refuse("validation_failed");
  if (known.includes("limit") && sent.has("starting_after") && sent.has("ending_before")) refuse("invalid_cursor");
  return [...new Set(sent.keys())].filter((name) => !known.includes(name));
}
