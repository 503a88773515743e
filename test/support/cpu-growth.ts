// Measures how CPU time grows with the length of a text, and lists the pieces that make masking work hardest.

/** Four times the text takes four times as long, or sixteen times where the time is quadratic. */
export const MAX_GROWTH = 10;

const ROUNDS = 3;
/** A busy machine makes single runs longer, CPU time included: a growth beyond the limit is measured more often before it counts. */
const MOST_ROUNDS = 12;

/** How the CPU time grows from a quarter of a length to all of it; the least of several runs each. */
export function growth(length: number, piece: string, work: (text: string) => void): number {
  const [quarter, whole] = [length / 4, length].map((most) => piece.repeat(Math.ceil(most / piece.length))) as [string, string];
  let [short, long] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  // Below a few milliseconds the clock's grain and the compiler count more than the text.
  const ratio = () => long / Math.max(short, 5_000);
  for (let round = 0; round < ROUNDS || (round < MOST_ROUNDS && ratio() >= MAX_GROWTH); round++) {
    short = Math.min(
      short,
      cpuTime(() => work(quarter)),
    );
    long = Math.min(
      long,
      cpuTime(() => work(whole)),
    );
  }
  return ratio();
}

/** Microseconds. */
function cpuTime(work: () => void): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return user + system;
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
