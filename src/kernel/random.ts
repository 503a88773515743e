// The one source of randomness: every value is a function of the seed and of what it is for, so nothing needs remembering.

import { hash, randomBytes } from "node:crypto";

export interface Random {
  /** An id such as `bkg_4fJ…`: the same parts give the same id for as long as the seed is the same. */
  id(prefix: string, ...parts: Part[]): string;
  /** An id that sorts by its place, as `placeOf` and `placeIn` give one: what is made together is then together in every index of a file. */
  sortableId(place: string, prefix: string, ...parts: Part[]): string;
  /** Lower-case hex digits, two for each byte (32 bytes at most). */
  hex(bytes: number, ...parts: Part[]): string;
  /** Base62 characters (24 at most). */
  text(length: number, ...parts: Part[]): string;
  /** A number in [0, 1). */
  fraction(...parts: Part[]): number;
}

type Part = string | number;

export const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ID_LENGTH = 16;
const PLACE_LENGTH = 4;
/** The character that a byte stands for. 256 is not a multiple of 62: the first eight come a little more often, which an id can bear. */
const CHARACTERS = Uint8Array.from({ length: 256 }, (_, byte) => ALPHABET.charCodeAt(byte % ALPHABET.length));

export function createRandom(seed: number): Random {
  const named = (parts: Part[]) => `${seed}/${parts.join("/")}`;
  const roll = (parts: Part[]) => hash("sha256", named(parts), "buffer");
  return {
    text: (length, ...parts) => written(roll(parts), length),
    id: (prefix, ...parts) => `${prefix}_${written(scatter(named([prefix, ...parts])), ID_LENGTH)}`,
    sortableId: (place, prefix, ...parts) => `${prefix}_${place}${written(scatter(named([prefix, ...parts])), ID_LENGTH - place.length)}`,
    hex: (bytes, ...parts) => roll(parts).subarray(0, bytes).toString("hex"),
    fraction: (...parts) => roll(parts).readUIntBE(0, 6) / 2 ** 48,
  };
}

/** Writes bytes as characters, in their own place. */
function written(bytes: Buffer, length: number): string {
  for (let place = 0; place < length; place++) bytes[place] = CHARACTERS[bytes[place] as number] as number;
  return bytes.toString("latin1", 0, length);
}

const scattered = Buffer.alloc(ID_LENGTH);

/**
 * Sixteen bytes for a text, good until the next are asked for. An id is no secret: a few multiplications for each character will do, where
 * SHA-256 costs as much as a row of a table.
 */
function scatter(text: string): Buffer {
  let [one, two, three, four] = [0x2c1b3c6d, 0x297a2d39, 0x7feb352d, 0x1b873593];
  for (let place = 0; place < text.length; place++) {
    const code = text.charCodeAt(place);
    one = Math.imul(one ^ code, 0x85ebca6b) ^ (two >>> 15);
    two = Math.imul(two ^ code, 0xc2b2ae35) ^ (three >>> 13);
    three = Math.imul(three ^ code, 0x9e3779b1) ^ (four >>> 16);
    four = Math.imul(four ^ code, 0x27d4eb2f) ^ (one >>> 14);
  }
  scattered.writeInt32LE(settled(one ^ four), 0);
  scattered.writeInt32LE(settled(two + one), 4);
  scattered.writeInt32LE(settled(three ^ two), 8);
  scattered.writeInt32LE(settled(four + three), 12);
  return scattered;
}

/** Each bit of a number touches every other. */
function settled(number: number): number {
  const once = Math.imul(number ^ (number >>> 16), 0x7feb352d);
  const twice = Math.imul(once ^ (once >>> 15), 0x846ca68b);
  return twice ^ (twice >>> 16);
}

/** The first characters of the nth id of its kind. After fourteen million they begin anew. */
export function sortKeyOf(count: number): string {
  let place = "";
  for (let rest = count; place.length < PLACE_LENGTH; rest = Math.floor(rest / ALPHABET.length))
    place = ALPHABET[rest % ALPHABET.length] + place;
  return place;
}

/** Those of an id that is there: for what belongs to it, and comes when it comes. */
export function sortKeyIn(id: string): string {
  const start = id.indexOf("_") + 1;
  return id.slice(start, start + PLACE_LENGTH);
}

/** The one value that no seed may foretell: a token that keeps strangers out. It never appears in an answer. */
export const randomToken = () => randomBytes(24).toString("hex");
