// Measures how CPU time grows with the length of a text, and lists the pieces that make masking work hardest.

/** How the CPU time grows from a quarter of a length to all of it; the least of three runs each. */
export function growth(length: number, piece: string, work: (text: string) => void): number {
  const [short, long] = [length / 4, length].map((most) => {
    const text = piece.repeat(Math.ceil(most / piece.length));
    const runs = [1, 2, 3].map(() => {
      const start = process.cpuUsage();
      work(text);
      const { user, system } = process.cpuUsage(start);
      return user + system;
    });
    return Math.min(...runs);
  }) as [number, number];
  // Below a few milliseconds the clock's grain and the compiler count more than the text.
  return long / Math.max(short, 5_000);
}

/** Four times the text takes four times as long, or sixteen times where the time is quadratic. */
export const MAX_GROWTH = 10;

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
