// Finds International Bank Account Numbers in a text by their country, length and checksum.

import type { Budget } from "./escape-layers.ts";

/** The length of an IBAN in each country. */
const LENGTHS = new Map(
  (
    "AD24 AE23 AL28 AO25 AT20 AZ28 BA20 BE16 BF28 BG22 BH22 BI27 BJ28 BR29 BY28 CF27 CG27 CH21 CI28 CM27 CR22 CV25 " +
    "CY28 CZ24 DE22 DJ27 DK18 DO28 DZ26 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GA27 GB22 GE22 GI23 GL18 GQ27 GR27 GT28 " +
    "GW25 HN28 HR21 HU28 IE22 IL23 IQ23 IR26 IS26 IT27 JO30 KM27 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MA28 " +
    "MC27 MD24 ME22 MG27 MK19 ML28 MN20 MR27 MT31 MU30 MZ25 NE28 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 " +
    "RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SN28 SO23 ST25 SV28 TD27 TG28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 " +
    "YE30"
  )
    .split(" ")
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/** The separators that people and forms write between the groups of an IBAN. */
const SEPARATORS = "[ \\t.+\\-_/\\u00a0\\u202f]{0,3}";

/** The source of a regular expression for the start of an IBAN. It matches at every IBAN, and also elsewhere. */
export const IBAN_START_SOURCE = `(?<![A-Za-z0-9])[A-Za-z]{2}\\d\\d${SEPARATORS}[A-Za-z0-9]{2}`;

const START = new RegExp(IBAN_START_SOURCE, "g");
const CANDIDATE = new RegExp(`[A-Za-z0-9]{4}(?:${SEPARATORS}[A-Za-z0-9]){11,30}`, "y");

/**
 * The start and end of each IBAN, until the budget is used up. A candidate is shorter than 130 characters and takes one
 * step.
 */
export function* ibansIn(text: string, budget: Budget): Generator<{ start: number; end: number }> {
  START.lastIndex = 0;
  for (let found = START.exec(text); found; found = START.exec(text)) {
    const start = found.index;
    START.lastIndex = start + 1;
    if (!LENGTHS.has(text.slice(start, start + 2).toUpperCase())) continue;
    if (--budget.left < 0) return;
    CANDIDATE.lastIndex = start;
    const candidate = CANDIDATE.exec(text)?.[0];
    const length = candidate === undefined ? undefined : ibanLength(candidate, text.charAt(start + candidate.length));
    // The next candidate may begin within this one.
    START.lastIndex = start + (length ?? 1);
    if (length !== undefined) yield { start, end: start + length };
  }
}

/**
 * The length of the IBAN at the start of the candidate, with separators. `following` is the character after the
 * candidate.
 */
function ibanLength(candidate: string, following: string): number | undefined {
  const wanted = LENGTHS.get(candidate.slice(0, 2).toUpperCase());
  if (wanted === undefined) return undefined;
  let end = 0;
  let digits = "";
  while (digits.length < wanted && end < candidate.length) {
    const character = candidate.charAt(end++);
    if (/[A-Za-z0-9]/.test(character)) digits += character;
  }
  const isWhole = digits.length === wanted && !/[A-Za-z0-9]/.test(candidate.charAt(end) || following);
  return isWhole && hasValidChecksum(digits) ? end : undefined;
}

/**
 * ISO 13616: move the first four characters to the end and read letters as 10 to 35; the number modulo 97 must be 1.
 */
function hasValidChecksum(iban: string): boolean {
  let remainder = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder === 1;
}
