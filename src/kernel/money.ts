// Converts amounts between integers in the currency's smallest unit and text such as 12.50, and knows the codes of
// currencies.

import { didYouMean } from "./did-you-mean.ts";

/** The decimals of a currency: 2 for EUR, 0 for JPY, 3 for KWD (default for an unknown currency: 2). */
export function decimalsOf(currency: string | null | undefined): number {
  if (!/^[A-Z]{3}$/.test(currency ?? "")) return 2;
  return (
    new Intl.NumberFormat("en", { style: "currency", currency: currency as string }).resolvedOptions()
      .maximumFractionDigits ?? 2
  );
}

/** Parses 12.50 as 1250 in a currency with two decimals; undefined if the text is not an amount of the currency. */
export function readAmount(text: string, currency: string | null | undefined): number | undefined {
  const decimals = decimalsOf(currency);
  const [, sign, whole = "", fraction = ""] = /^(-?)(\d{1,15})(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === "" || fraction.length > decimals) return undefined;
  const amount = Number(whole + fraction.padEnd(decimals, "0")) * (sign === "-" ? -1 : 1);
  return Number.isSafeInteger(amount) ? amount : undefined;
}

/** Writes 1250 of EUR as `12.50 EUR`. */
export function writeAmount(amount: number, currency: string | null | undefined): string {
  const decimals = decimalsOf(currency);
  const digits = String(Math.abs(amount)).padStart(decimals + 1, "0");
  const text = decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
  return `${amount < 0 ? "-" : ""}${text}${currency == null ? "" : ` ${currency}`}`;
}

/** The currency codes of ISO 4217 that are in use, except the codes for funds, metals and tests. */
const CODES =
  "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF " +
  "CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG " +
  "HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA " +
  "MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD " +
  "RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX " +
  "USD UYU UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG";

const CURRENCIES: ReadonlySet<string> = new Set(CODES.split(" "));

/** The rule that the `currency` of a record is a code of ISO 4217. */
export function knownCurrency(record: object) {
  const { currency } = record as { currency?: unknown };
  if (typeof currency !== "string" || CURRENCIES.has(currency)) return undefined;
  const hint = didYouMean(currency, CURRENCIES);
  const message = `currency must be a code of ISO 4217; received ${JSON.stringify(currency)}.${hint}`;
  return { field: "currency", code: "unknown_currency", message };
}
