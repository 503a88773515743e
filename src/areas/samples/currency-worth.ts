// Rough exchange rates from euros, so that samples have believable prices in each currency.

/** About what one euro is worth in the smallest unit of a currency (default: 100). */
const WORTH: Readonly<Record<string, number>> = {
  BRL: 600,
  CZK: 2_500,
  HUF: 40_000,
  INR: 9_500,
  JPY: 160,
  KES: 14_000,
  KRW: 1_500,
  MXN: 2_000,
  NGN: 170_000,
  NOK: 1_200,
  PHP: 6_500,
  RWF: 1_500,
  SEK: 1_200,
  THB: 3_800,
  TRY: 4_500,
  TZS: 270_000,
  UGX: 4_000,
  VND: 28_000,
  XAF: 656,
  XOF: 656,
  ZAR: 2_000,
  ZMW: 2_700,
};

/** Converts euros roughly to another currency, in its smallest unit. */
export const inCurrency = (euros: number, currency: unknown) => euros * (WORTH[String(currency)] ?? 100);
