// For the fuzz and property tests: the number of inputs, an arbitrary for any text, and mutations of bytes and JSON.

import fc from "fast-check";

const { FUZZ_RUNS } = process.env;

/** How many inputs a property is tried with: few in `npm test`, FUZZ_RUNS in `npm run fuzz`. */
export const inputs = (few: number): number => Number(FUZZ_RUNS ?? few);

/** The number of days from one tested day to the next: `many` in `npm test`, `few` in `npm run fuzz`. */
export const daysBetween = (many: number, few: number): number => (FUZZ_RUNS === undefined ? many : few);

/** Parameters of a property that tries the regressions of the corpus first. */
export const runs = <T>(few: number, corpus: T[] = []): fc.Parameters<[T]> => ({
  numRuns: inputs(few) + corpus.length,
  examples: corpus.map((one): [T] => [one]),
});

/** Characters in a range of code points. Surrogates are replaced, because they are not characters. */
const range = (min: number, max: number) =>
  fc.integer({ min, max }).map((code) => String.fromCodePoint(code >= 0xd800 && code <= 0xdfff ? 0xfffd : code));
const character = fc.oneof(range(0, 0x7f), range(0x80, 0xffff), range(0x1_0000, 0x10_ffff));

/** Equivalent to `fc.string({ unit: "binary" })`, which first lists every code point and takes seconds for it. */
export const anyText = (constraints: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> =>
  fc.string({ unit: character, ...constraints });

/** Pieces of text that break JSON, or that look like JSON. */
export const JSON_TOKENS = [
  "{",
  "}",
  "[",
  "]",
  '"',
  ",",
  ":",
  "null",
  "1e999",
  "-",
  "\\u0000",
  "\\ud800",
  '"__proto__":{},',
  "[".repeat(50),
  "\xff",
  "sk_live_x",
];

/** One change of bytes: its position, its kind and its size. */
export interface Change {
  what: "flip" | "drop" | "double" | "insert" | "cut";
  /** Position as a fraction, 0 to 1. */
  at: number;
  size: number;
  token: string;
}

export const changeOf = (tokens: readonly string[]): fc.Arbitrary<Change> =>
  fc.record({
    what: fc.constantFrom("flip", "drop", "double", "insert", "insert", "cut"),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    size: fc.integer({ min: 1, max: 24 }),
    token: fc.constantFrom(...tokens),
  });

/** Changes nothing in `untouched` of `untouched + 1` inputs, and makes up to `most` changes in each other input. */
export const someChanges = (tokens: readonly string[], most: number, untouched: number): fc.Arbitrary<Change[]> =>
  fc.oneof(
    { weight: untouched, arbitrary: fc.constant<Change[]>([]) },
    fc.array(changeOf(tokens), { minLength: 1, maxLength: most }),
  );

export function changed(bytes: Buffer, changes: readonly Change[]): Buffer {
  return changes.reduce((before, { what, at, size, token }) => {
    const start = Math.floor(at * before.length);
    const [head, middle, tail] = [
      before.subarray(0, start),
      before.subarray(start, start + size),
      before.subarray(start + size),
    ];
    if (what === "drop") return Buffer.concat([head, tail]);
    if (what === "cut") return at > 0.5 ? head : before;
    if (what === "double") return Buffer.concat([head, middle, middle, tail]);
    if (what === "insert") return Buffer.concat([head, Buffer.from(token, "latin1"), middle, tail]);
    return Buffer.concat([head, middle.map((byte, place) => (place === 0 ? byte ^ (1 << (size % 8)) : byte)), tail]);
  }, bytes);
}

export const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(
    null,
    "",
    0,
    -1,
    2 ** 53,
    1e308,
    [],
    {},
    true,
    "\u0000",
    "\ud800",
    "__proto__",
    "9".repeat(400),
    "1".repeat(70_000),
  ),
  fc.constantFrom<unknown>("5s", "-5s", "1e9h", "payments.*", "*", "mer_lodge", "2026-02-30", "/a~2b", "$", [[[[]]]], {
    gte: 1,
    lte: 0,
  }),
);

/** One change of a JSON value: a node, selected by number, is replaced, removed, renamed or duplicated. */
export interface Edit {
  what: "replace" | "remove" | "rename" | "double";
  node: number;
  value: unknown;
  name: string;
}

export const edit: fc.Arbitrary<Edit> = fc.record({
  what: fc.constantFrom("replace", "replace", "remove", "rename", "double"),
  node: fc.nat({ max: 2_000 }),
  value: oddValue,
  name: fc.oneof(
    fc.constantFrom("__proto__", "constructor", "toString", "", "id", "type", "match", "trigger"),
    fc.string({ maxLength: 8 }),
  ),
});

/** Returns an edited copy. Each edit inserts copies, so the input is unchanged and no cycle arises. */
export function edited(value: unknown, edits: readonly Edit[]): unknown {
  return edits.reduce(editOnce, structuredClone(value));
}

function editOnce(root: unknown, { what, node, value, name }: Edit): unknown {
  const places = placesIn(root);
  const fresh = structuredClone(value);
  if (places.length === 0) return fresh;
  const { holder, key } = places[node % places.length] as Place;
  if (what === "replace") define(holder, key, fresh);
  else if (Array.isArray(holder))
    what === "double" ? holder.push(structuredClone(holder[Number(key)])) : holder.splice(Number(key), 1);
  else {
    const kept = structuredClone(holder[key]);
    if (what !== "double") delete holder[key];
    if (what !== "remove") define(holder, name, kept);
  }
  return root;
}

type Holder = Record<string, unknown> | unknown[];
type Place = { holder: Record<string, unknown>; key: string };

function placesIn(value: unknown, found: Place[] = [], depth = 0): Place[] {
  if (typeof value !== "object" || value === null || depth > 40) return found;
  for (const key of Object.keys(value)) {
    found.push({ holder: value as Record<string, unknown>, key });
    placesIn((value as Record<string, unknown>)[key], found, depth + 1);
  }
  return found;
}

/** Defines a field even if it is named __proto__. */
const define = (holder: Holder, key: string, value: unknown) =>
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
