// The limits of a request to the service, used by its errors, its documentation and the comparison with the real
// service.

/** Bytes of a body. */
export const MAX_BODY = 1_048_576;

/** Characters of a request target: the path and the query. */
export const MAX_TARGET = 2_048;

/** Bytes of all headers: Node's own limit. */
export const MAX_HEADERS = 16_384;

/** Characters of an idempotency key. */
export const MAX_KEY_LENGTH = 255;

/** An idempotency key is printable ASCII without spaces. */
export const KEY_PATTERN = "^[!-~]+$";

/** Levels of nested JSON. Within this limit, recursive functions cannot overflow the stack. */
export const MAX_DEPTH = 32;

/**
 * Fields and elements of a body. A body of 1 MiB can hold 500,000, and parsing them takes ten times as long as parsing
 * an ordinary one.
 */
export const MAX_VALUES = 20_000;

/**
 * How deep a JSON text nests, and about how many fields and elements it has: counted without parsing it, so that no
 * text takes long.
 */
export function extentOf(json: string): { levels: number; values: number } {
  let [level, levels, values] = [0, 0, 0];
  for (let index = 0; index < json.length; index++) {
    const character = json.charCodeAt(index);
    if (character === QUOTE) index = endOfString(json, index);
    else if (character === OPEN_BRACKET || character === OPEN_BRACE) {
      values++;
      levels = Math.max(levels, ++level);
    } else if (character === CLOSE_BRACKET || character === CLOSE_BRACE) level--;
    else if (character === COMMA) values++;
  }
  return { levels, values };
}

/** Whether a body is within the limits, so that parsing it is fast. */
export function isReadable(json: string): boolean {
  const { levels, values } = extentOf(json);
  return levels <= MAX_DEPTH && values <= MAX_VALUES;
}

const [QUOTE, COMMA, OPEN_BRACKET, BACKSLASH, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [
  0x22, 0x2c, 0x5b, 0x5c, 0x5d, 0x7b, 0x7d,
];

/**
 * The offset of the quote that ends a string; the length of the text if none does. V8 searches a long string faster
 * than a loop reads it.
 */
function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let first = end;
    while (json.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((end - first) % 2 === 0) return end;
  }
  return json.length;
}
