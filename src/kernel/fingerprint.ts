// The fingerprint of a request: equal for requests with the same method, path, query and body. The order of fields and
// parameters is ignored.

import { hash } from "node:crypto";
import { compareTexts } from "./text.ts";

export function fingerprint(method: string | undefined, path: string, search: string, body: unknown): string {
  return hash(
    "sha256",
    JSON.stringify([method, path, search === "" ? [] : sortedPairs(search), sorted(body)]),
    "base64",
  );
}

const sortedPairs = (search: string) =>
  [...new URLSearchParams(search)].sort(([one, first], [other, second]) =>
    one === other ? compareTexts(first, second) : compareTexts(one, other),
  );

/**
 * Turns an object into a list of its fields, so that a field named __proto__ counts too. The wrapper distinguishes it
 * from an array.
 */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).sort(([one], [other]) => compareTexts(one, other));
  return { fields: fields.map(([name, child]) => [name, sorted(child)]) };
}
