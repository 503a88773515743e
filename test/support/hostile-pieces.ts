// Checks that work on a text takes linear time, and lists the pieces of text that are hardest to mask.

import { runInNewContext } from "node:vm";

/**
 * The size of the largest body. On such a text, quadratic work takes an hour and linear work a fraction of a second.
 * Even a busy machine shows the difference.
 */
const LENGTH = 2 ** 20;
const LIMIT = 45_000;

/** Throws if the work on a text of 1 MiB is still running after 45 seconds. */
export function expectLinear(piece: string, work: (text: string) => void): void {
  const text = piece.repeat(Math.ceil(LENGTH / piece.length));
  runInNewContext("work(text)", { work, text }, { timeout: LIMIT });
}

export const hostilePieces = [
  '"',
  "a",
  "A",
  "\\",
  "%5",
  "%25",
  "pin",
  '"pin":',
  "pin=",
  "pin ",
  "password",
  '{"pin":{',
  "DE89 ",
  "AA11",
  "sk_test_",
  "%70in=",
  "key=",
  "\\u0070",
  'token="',
  "pin:'",
  "[pin",
  "DE89-3704-0044-0532-0130-01 ",
  '\\"pin\\":1',
  'pin "',
  "pin\\",
  "&pin",
  "_pi",
] as const;
