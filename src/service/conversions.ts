// The forms of times, amounts, days and codes between which the sandbox converts.

import { formOfValue } from "../contracts/value-formats.ts";
import { isoTime, readAnyTime } from "../kernel/clock.ts";
import { decimalsOf, readAmount, writeAmount } from "../kernel/money.ts";

type Fields = Readonly<Record<string, unknown>>;

interface Conversion {
  /** From the sandbox's form to the service's. `record` is the object that holds the value. */
  outwards(value: never, record: Fields): unknown;
  /** Back to the sandbox's form; called only if the value has the service's form. */
  inwards(value: never, record: Fields): unknown;
  /** Texts that `inwards` reads (default: those of the service's form). */
  pattern?: RegExp;
}

/** Leaves out the fraction, because records keep whole seconds. */
const isoOf = (seconds: number) => isoTime(seconds * 1_000).replace(".000Z", "Z");
const secondsOf = (time: string) => Math.floor(readAnyTime(time) / 1_000);
const startOf = (day: string) => secondsOf(`${day}T00:00:00Z`);
const currencyOf = ({ currency }: Fields) => (typeof currency === "string" ? currency.toUpperCase() : undefined);

const decimal = (amount: number, record: Fields) => writeAmount(amount, currencyOf(record)).split(" ")[0] as string;

const smallLetters: Conversion = {
  outwards: (code: string) => code.toLowerCase(),
  inwards: (code: string) => code.toUpperCase(),
};

/** The conversions, by the sandbox's form and then by the service's. */
const conversions: Readonly<Record<string, Readonly<Record<string, Conversion>>>> = {
  "Unix seconds": {
    "Unix milliseconds": {
      outwards: (seconds: number) => seconds * 1_000,
      inwards: (milliseconds: number) => Math.floor(milliseconds / 1_000),
    },
    "ISO 8601 time": { outwards: isoOf, inwards: secondsOf },
    "seconds as text": { outwards: String, inwards: Number, pattern: /^\d{1,11}$/ },
    "day as text": { outwards: (seconds: number) => isoOf(seconds).slice(0, 10), inwards: startOf },
  },
  "integer in the smallest unit": {
    "decimal number": {
      outwards: (amount: number, record) => Number(decimal(amount, record)),
      inwards: (amount: number, record) => Math.round(amount * 10 ** decimalsOf(currencyOf(record))),
    },
    "decimal text": {
      outwards: decimal,
      inwards: (amount: string, record) => readAmount(amount, currencyOf(record)) ?? amount,
      pattern: /^-?\d{1,15}([.]\d+)?$/,
    },
    "integer text": { outwards: String, inwards: Number, pattern: /^-?\d{1,15}$/ },
  },
  "YYYY-MM-DD": {
    "ISO 8601 time": { outwards: (day: string) => `${day}T00:00:00Z`, inwards: (time: string) => time.slice(0, 10) },
    "Unix seconds": { outwards: startOf, inwards: (seconds: number) => isoOf(seconds).slice(0, 10) },
    "Unix milliseconds": {
      outwards: (day: string) => startOf(day) * 1_000,
      inwards: (milliseconds: number) => isoOf(Math.floor(milliseconds / 1_000)).slice(0, 10),
    },
  },
  "YYYY-MM": {
    "day of a month": { outwards: (month: string) => `${month}-01`, inwards: (day: string) => day.slice(0, 7) },
  },
  "three capital letters": { "three small letters": smallLetters },
  "two capital letters": { "two small letters": smallLetters },
};

/** The conversion between two forms; undefined if the sandbox has none. */
export function conversionBetween(own: string | undefined, other: unknown) {
  const forms = own === undefined ? undefined : conversions[own];
  const found = forms && typeof other === "string" && Object.hasOwn(forms, other) ? forms[other] : undefined;
  const matches = (value: unknown) =>
    found?.pattern
      ? typeof value === "string" && found.pattern.test(value)
      : formOfValue(String(other), value) === other;
  return found && { ...found, matches };
}

/** The forms to which a form of the sandbox can be converted. */
export const formsFrom = (own: string): string[] => Object.keys(conversions[own] ?? {});

/** A sample value in a form, made from a time in Unix seconds, for fields that the sandbox does not have. */
export function sampleOfForm(form: string, seconds: number): unknown {
  if (form === "Unix seconds") return seconds;
  if (form === "YYYY-MM-DD") return isoOf(seconds).slice(0, 10);
  if (form === "e-mail address") return "someone@example.com";
  return conversionBetween("Unix seconds", form)?.outwards(seconds as never, {});
}
