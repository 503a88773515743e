// The ways in which common libraries write a JSON value, and how a receiver keeps the bytes that were signed.

import { spacedJson } from "./text.ts";

export interface JsonForm {
  /** Completes "The body was parsed and written again". */
  how: string;
  write(value: unknown): string;
}

export const indentedJson = (value: unknown) => JSON.stringify(value, null, 2);

/** JSON with every character beyond ASCII and every slash escaped, as PHP writes it. */
export const escapedJson = (value: unknown) => asciiOnly(JSON.stringify(value).replaceAll("/", "\\/"));

/** JSON with spaces after commas and colons and every character beyond ASCII escaped, as Python writes it. */
export const pythonJson = (value: unknown) => asciiOnly(spacedJson(value));

/** JSON in one line with its fields in alphabetical order and escaped <, > and &, as Go writes a map. */
export const goJson = (value: unknown) => escapedForHtml(sorted(value));

/** The forms that a receiver hashes if it verifies the parsed body instead of the bytes. */
export const jsonForms: readonly JsonForm[] = [
  { how: "in one line, as JavaScript, Ruby and Java do", write: (value) => JSON.stringify(value) },
  { how: "indented by two spaces", write: indentedJson },
  { how: "indented by four spaces", write: (value) => JSON.stringify(value, null, 4) },
  { how: "with spaces and escaped characters, as Python does", write: pythonJson },
  { how: "with spaces after commas and colons", write: (value) => spacedJson(value) },
  { how: "in one line with escaped characters", write: (value) => asciiOnly(JSON.stringify(value)) },
  { how: "with escaped slashes, as PHP does", write: escapedJson },
  {
    how: "with [] for {} and escaped slashes, as PHP does with arrays",
    write: (value) => escapedJson(asArrays(value)),
  },
  { how: "with escaped slashes", write: (value) => JSON.stringify(value).replaceAll("/", "\\/") },
  { how: "with its fields in another order", write: (value) => JSON.stringify(sorted(value)) },
  { how: "with sorted fields and escaped <, > and &, as Go does", write: goJson },
  { how: "with sorted fields, as Python can", write: (value) => pythonJson(sorted(value)) },
  {
    how: "with escaped <, >, &, = and ', as Gson does",
    write: (value) => escapedForHtml(value, /[<>&='\u2028\u2029]/g),
  },
];

const asciiOnly = (json: string) => json.replace(/[\u0080-\uffff]/g, escapeUnit);

const escapedForHtml = (value: unknown, pattern = /[<>&\u2028\u2029]/g) =>
  JSON.stringify(value).replace(pattern, escapeUnit);

const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** PHP's associative arrays: an empty object becomes an empty array. */
function asArrays(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asArrays);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(([name, child]) => [name, asArrays(child)] as const);
  return fields.length === 0 ? [] : Object.fromEntries(fields);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(fields.map(([name, child]) => [name, sorted(child)]));
}

/** The advice for a receiver that hashes the parsed body. */
export const VERIFY_RAW_BYTES =
  "The signature is that of the parsed and re-serialised body: verify the raw bytes. " +
  'They are in express.raw({ type: "application/json", limit: "1mb" }), Fastify\'s parseAs: "buffer", ' +
  "Next.js request.text(), Flask request.get_data(), Django and FastAPI request.body, Rails request.raw_post, " +
  "Laravel $request->getContent(), PHP file_get_contents('php://input'), Go io.ReadAll(r.Body), and Spring " +
  "@RequestBody byte[].";
