// Undoes JSON escapes and percent-encoding one layer at a time, and maps each layer back to the original text. A secret
// in JSON inside a JSON string is two layers down.

export interface Layer {
  readonly text: string;
  /** The offset in the original text of each character and of the end; undefined if this layer is the original. */
  readonly offsets: Int32Array | undefined;
  /** The layer in which each character appeared. An escaped quote does not end a string that a plain quote opened. */
  readonly depths: Uint8Array | undefined;
}

/**
 * The steps that remain before a text counts as hostile. Each of these takes a step: one of the usual layers, 32
 * escapes in it, an escape or 64 characters in a deeper layer, and a place that may hold a secret. Below zero, no more
 * escapes are read, and the whole text is masked.
 */
export interface Budget {
  left: number;
}

/** A step takes up to 4 microseconds. Real texts take far fewer: the longest logged body is 16 KiB. */
export const newBudget = (): Budget => ({ left: 5_000 });

const MAX_LAYERS = 6;
/** Real texts have at most three layers, such as JSON in a JSON string in a query. */
const USUAL_LAYERS = 3;
/** Characters of a deep layer that take as long as a step. */
const CHARACTERS_PER_STEP = 64;
/** Escapes in one of the usual layers that take as long as a step. */
const ESCAPES_PER_STEP = 32;

/**
 * Yields the text itself, then the text with its escapes undone once, twice and so on, until no escape is left or the
 * budget is used up.
 */
export function* layersOf(text: string, budget: Budget): Generator<Layer> {
  let layer: Layer | undefined = { text, offsets: undefined, depths: undefined };
  for (let depth = 1; layer && budget.left >= 0; depth++) {
    yield layer;
    layer = depth <= MAX_LAYERS && hasEscape(layer.text) ? decode(layer, depth, budget) : undefined;
  }
}

/** Whether the text may contain an escape. Cheaper than finding it. */
export const hasEscape = (text: string) => text.includes("\\") || text.includes("%");

/**
 * Undoes the escapes of one layer; undefined when there is none, or when the budget is used up. Works on character
 * codes: with a match, a slice and a string for each escape, a body of 1 MiB that consists of escapes takes seven times
 * as long.
 */
function decode({ text, offsets, depths }: Layer, depth: number, budget: Budget): Layer | undefined {
  const codes = codesOf(text);
  const to = {
    codes: new Uint16Array(text.length),
    offsets: new Int32Array(text.length + 1),
    depths: new Uint8Array(text.length),
  };
  const isUsual = depth <= USUAL_LAYERS;
  const mostEscapes = isUsual ? budget.left * ESCAPES_PER_STEP : budget.left;
  const nextMark = markFinder(text);
  let [length, escapes] = [0, 0];
  for (let index = 0; index < codes.length; length++) {
    const run = nextMark(index) - index;
    if (run >= LONG_RUN) {
      to.codes.set(codes.subarray(index, index + run), length);
      copyPlaces({ offsets, depths }, to, index, length, run);
      length += run - 1;
      index += run;
      continue;
    }
    const size = escapeAt(codes, index);
    to.codes[length] = size === 0 ? (codes[index] as number) : decoded(codes, index, size);
    to.offsets[length] = placeOf(offsets, index);
    const depthSoFar = depths ? (depths[index] as number) : 0;
    to.depths[length] = size > 0 ? depth : depthSoFar;
    if (size > 0 && ++escapes > mostEscapes) {
      budget.left = -1;
      return undefined;
    }
    index += size === 0 ? 1 : size;
  }
  if (length === codes.length) return undefined;
  budget.left -= isUsual ? 1 + escapes / ESCAPES_PER_STEP : escapes + codes.length / CHARACTERS_PER_STEP;
  to.offsets[length] = placeOf(offsets, codes.length);
  return { text: textOf(to.codes.subarray(0, length)), offsets: to.offsets, depths: to.depths };
}

/** Runs of this many characters without an escape are copied together, which is faster than one by one. */
const LONG_RUN = 64;

/** The offset in the original text. */
const placeOf = (offsets: Layer["offsets"], index: number) => (offsets ? (offsets[index] as number) : index);

/**
 * Copies the offsets and depths of a run. In the original text, an offset is the character's own index, and the depth
 * is 0.
 */
function copyPlaces(
  { offsets, depths }: Omit<Layer, "text">,
  to: Omit<Layer, "text">,
  index: number,
  length: number,
  run: number,
): void {
  if (depths) to.depths?.set(depths.subarray(index, index + run), length);
  if (offsets) to.offsets?.set(offsets.subarray(index, index + run), length);
  else for (let step = 0; step < run; step++) (to.offsets as Int32Array)[length + step] = index + step;
}

/** Finds the next character, from an index on, that may begin an escape. The indexes may only grow. */
function markFinder(text: string): (from: number) => number {
  const find = (mark: string, from: number) => (text.indexOf(mark, from) + 1 || text.length + 1) - 1;
  let [backslash, percent] = [-1, -1];
  return (from) => {
    if (backslash < from) backslash = find("\\", from);
    if (percent < from) percent = find("%", from);
    return Math.min(backslash, percent);
  };
}

/**
 * The text with all escapes undone, however deep they nest, in one pass: a character that completes an escape replaces
 * it. Characters beyond Latin-1 become ÿ.
 */
export function withoutEscapes(text: string): string {
  if (!hasEscape(text)) return text;
  const codes = codesOf(text);
  const kept = new Uint8Array(codes.length);
  let length = 0;
  for (let index = 0; index < codes.length; index++) {
    let code = latin1(codes[index] as number);
    for (let undone = escapeEnding(kept, length, code); undone > 0; undone = escapeEnding(kept, length, code)) {
      length -= undone >> 8;
      code = undone & 0xff;
    }
    kept[length++] = code;
  }
  return textOf(Uint16Array.from(kept.subarray(0, length)));
}

const latin1 = (code: number) => (code > 0xff ? 0xff : code);

const [BACKSLASH, PERCENT, SMALL_U] = [0x5c, 0x25, 0x75];
/** The character that an escape stands for, by the character after the backslash. */
const LETTERS = new Uint16Array(0x80);
for (const [index, letter] of [...`"'\\/bfnrt`].entries())
  LETTERS[letter.charCodeAt(0)] = `"'\\/\b\f\n\r\t`.charCodeAt(index);
/**
 * Stands for each byte of a non-ASCII character. Secret names are ASCII, so a space, which separates words, is enough.
 */
const OTHER_BYTE = 0xa0;
const DIGITS = new Int8Array(0x80).fill(-1);
for (const [value, digit] of [..."0123456789abcdef"].entries())
  DIGITS[digit.charCodeAt(0)] = DIGITS[digit.toUpperCase().charCodeAt(0)] = value;
type Codes = Uint16Array | Uint8Array;

/** The length of the escape that begins here; 0 if none begins here. */
function escapeAt(codes: Codes, index: number): number {
  const code = codes[index];
  if (code === PERCENT) return byteAt(codes, index + 1) < 0 ? 0 : 3;
  if (code !== BACKSLASH) return 0;
  const next = codes[index + 1] as number;
  if (next === SMALL_U) return byteAt(codes, index + 2) < 0 || byteAt(codes, index + 4) < 0 ? 0 : 6;
  return (LETTERS[next] ?? 0) === 0 ? 0 : 2;
}

/**
 * The byte of the escape that this character completes, plus 256 times the number of the escape's earlier characters; 0
 * if it completes none. One number instead of an object, because a body of 1 MiB may consist of escapes.
 */
function escapeEnding(kept: Uint8Array, length: number, code: number): number {
  if (kept[length - 1] === BACKSLASH && length > 0)
    return (LETTERS[code] ?? 0) === 0 ? 0 : 0x100 + (LETTERS[code] as number);
  const low = length < 2 ? -1 : (DIGITS[code] ?? -1);
  const high = low < 0 ? -1 : (DIGITS[kept[length - 1] as number] ?? -1);
  if (high < 0) return 0;
  const byte = high * 16 + low;
  if (kept[length - 2] === PERCENT) return 0x200 + (byte < 0x80 ? byte : OTHER_BYTE);
  if (length < 5 || kept[length - 5] !== BACKSLASH || kept[length - 4] !== SMALL_U) return 0;
  const above = byteAt(kept, length - 3);
  return above < 0 ? 0 : 0x500 + (above > 0 ? 0xff : byte);
}

function decoded(codes: Codes, index: number, size: number): number {
  if (size === 2) return LETTERS[codes[index + 1] as number] as number;
  if (size === 6) return byteAt(codes, index + 2) * 0x100 + byteAt(codes, index + 4);
  const byte = byteAt(codes, index + 1);
  return byte < 0x80 ? byte : OTHER_BYTE;
}

/** The value of two hexadecimal digits; negative if the characters are not digits. */
function byteAt(codes: Codes, index: number): number {
  const [high, low] = [DIGITS[codes[index] as number] ?? -1, DIGITS[codes[index + 1] as number] ?? -1];
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

const utf8 = new TextEncoder();

function codesOf(text: string): Codes {
  const bytes = utf8.encode(text);
  // Only ASCII has as many bytes as characters.
  if (bytes.length === text.length) return bytes;
  const codes = new Uint16Array(text.length);
  for (let index = 0; index < codes.length; index++) codes[index] = text.charCodeAt(index);
  return codes;
}

/** TextDecoder also exists in browsers, unlike Node's `Buffer`. */
const utf16 = new TextDecoder("utf-16le", { ignoreBOM: true });
const textOf = (codes: Uint16Array) => utf16.decode(codes);
