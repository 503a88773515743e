// What makes two requests the same request: method, path, query and body, however the same JSON was written.

import { hash } from "node:crypto";

/** The same for every way to write the same request: names of the query and of the body are put in order. */
export function fingerprint(method: string | undefined, path: string, search: string, body: unknown): string {
  return hash("sha256", JSON.stringify([method, path, search === "" ? [] : pairs(search), sorted(body)]), "base64");
}

const pairs = (search: string) =>
  [...new URLSearchParams(search)].sort(([one, first], [other, second]) => (one === other ? compare(first, second) : compare(one, other)));

const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  // Entries: a field named __proto__ must count like any other. And in an object, so that no list can look like them.
  const fields = Object.entries(value).sort(([one], [other]) => compare(one, other));
  return { fields: fields.map(([name, child]) => [name, sorted(child)]) };
}
