// Undoes JSON escapes and percent-encoding one layer at a time, and maps each layer back to the original text. Secrets of JSON inside a
// JSON string are two layers down.

export interface Layer {
  readonly text: string;
  /** The offset in the original text of each character and of the end; undefined if this layer is the original. */
  readonly offsets: Int32Array | undefined;
  /** The layer in which each character appeared. An escaped quote does not end a string that a plain quote opened. */
  readonly depths: Uint8Array | undefined;
}

/** Real texts have at most three layers, such as JSON in a JSON string in a query. */
const MAX_LAYERS = 6;

const ESCAPE = /\\(?:u[0-9a-fA-F]{4}|["'\\/bfnrt])|%[0-9a-fA-F]{2}/g;
const LETTERS: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
/** Stands for each byte of a non-ASCII character. Secret names are ASCII, so a space, which separates words, is enough. */
const OTHER_BYTE = "\u00a0";

/** Yields the text itself, then with its escapes undone once, twice and so on, until none is left. */
export function* layersOf(text: string): Generator<Layer> {
  let layer: Layer | undefined = { text, offsets: undefined, depths: undefined };
  for (let depth = 1; layer; depth++) {
    yield layer;
    layer = depth <= MAX_LAYERS && hasEscape(layer.text) ? decode(layer, depth) : undefined;
  }
}

/** Whether the text may contain an escape. Cheaper than matching `ESCAPE`. */
const hasEscape = (text: string) => text.includes("\\") || text.includes("%");

/** Undoes the escapes of one layer; undefined when there is none. */
function decode({ text, offsets, depths }: Layer, depth: number): Layer | undefined {
  const decodedOffsets = new Int32Array(text.length + 1);
  const decodedDepths = new Uint8Array(text.length);
  let decoded = "";
  let read = 0;
  const copyTo = (end: number) => {
    for (let index = read, at = decoded.length; index < end; index++, at++) {
      decodedOffsets[at] = offsets?.[index] ?? index;
      decodedDepths[at] = depths?.[index] ?? 0;
    }
    decoded += text.slice(read, end);
  };
  for (const { 0: sequence, index } of text.matchAll(ESCAPE)) {
    copyTo(index);
    decodedOffsets[decoded.length] = offsets?.[index] ?? index;
    decodedDepths[decoded.length] = depth;
    decoded += characterOf(sequence);
    read = index + sequence.length;
  }
  if (read === 0) return undefined;
  copyTo(text.length);
  decodedOffsets[decoded.length] = offsets?.[text.length] ?? text.length;
  return { text: decoded, offsets: decodedOffsets, depths: decodedDepths };
}

function characterOf(sequence: string): string {
  if (sequence.startsWith("%")) {
    const code = Number.parseInt(sequence.slice(1), 16);
    return code < 0x80 ? String.fromCharCode(code) : OTHER_BYTE;
  }
  if (sequence.length > 2) return String.fromCharCode(Number.parseInt(sequence.slice(2), 16));
  return LETTERS[sequence.charAt(1)] ?? sequence.charAt(1);
}
