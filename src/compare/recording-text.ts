// The text of a recording's file: UTF-8 or UTF-16, plain or compressed as gzip or zlib do it, such as the .zhar of mitmproxy.

import { unzipSync } from "node:zlib";
import { usageError } from "../kernel/errors.ts";

/** Bytes. Node can hold no longer text. */
export const LARGEST_FILE = 500_000_000;

/** Compressed files may hold much more than their size says. */
const LARGEST_UNCOMPRESSED = 200_000_000;

const startsWith = (bytes: Uint8Array, ...start: number[]) => start.every((byte, index) => bytes[index] === byte);

/** `name` is the name of the file in messages. */
export function recordingText(bytes: Uint8Array, name: string): string {
  if (startsWith(bytes, 0x50, 0x4b, 0x03, 0x04)) usageError(`${name} is a zip archive. Unpack it, and compare the .har in it.`);
  if (startsWith(bytes, 0x1f, 0x8b) || startsWith(bytes, 0x78)) return decode(uncompressed(bytes, name));
  return decode(bytes);
}

/** The decoder removes the byte order mark. */
const decode = (bytes: Uint8Array): string => new TextDecoder(encodingOf(bytes)).decode(bytes);

function encodingOf(bytes: Uint8Array): string {
  if (startsWith(bytes, 0xff, 0xfe)) return "utf-16le";
  return startsWith(bytes, 0xfe, 0xff) ? "utf-16be" : "utf-8";
}

function uncompressed(bytes: Uint8Array, name: string): Uint8Array {
  try {
    return unzipSync(bytes, { maxOutputLength: LARGEST_UNCOMPRESSED });
  } catch {
    return usageError(
      `${name} is compressed and cannot be decompressed: it is damaged, or holds more than ${LARGEST_UNCOMPRESSED} bytes. Compare the plain file.`,
    );
  }
}
