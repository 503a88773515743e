// The forms of times, amounts, days and codes between which the sandbox converts, and the schema of each.

import { isoTime, readAnyTime } from "../kernel/clock.ts";
import { decimalsOf, readAmount, writeAmount } from "../kernel/money.ts";

interface Conversion {
  /** From the sandbox's form to the service's. `record` is the object that holds the value. */
  outwards(value: never, record: Readonly<Record<string, unknown>>): unknown;
  /** Back; the value itself if it has another form. */
  inwards(value: never, record: Readonly<Record<string, unknown>>): unknown;
  /** The keywords of the schema of the service's form. */
  schema: { type: string; pattern?: string };
}

const text = (pattern: string) => ({ type: "string", pattern });
const ISO_TIME = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{5,}(Z|[+-][0-9]{2}:?[0-9]{2})$";
const ISO_DAY = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$";

/** Records keep whole seconds; services that show a time as text show no fraction that a client could rely on. */
const isoOf = (seconds: number) => isoTime(seconds * 1_000).replace(".000Z", "Z");
const secondsOf = (time: string) => Math.floor(readAnyTime(time) / 1_000);
const startOf = (day: string) => secondsOf(`${day}T00:00:00Z`);
const currencyOf = ({ currency }: Readonly<Record<string, unknown>>) => (typeof currency === "string" ? currency.toUpperCase() : undefined);

const decimal = (amount: number, record: Readonly<Record<string, unknown>>) =>
  writeAmount(amount, currencyOf(record)).split(" ")[0] as string;

/** From the sandbox's form to another one. */
const conversions: Readonly<Record<string, Readonly<Record<string, Conversion>>>> = {
  "Unix seconds": {
    "Unix milliseconds": {
      outwards: (seconds: number) => seconds * 1_000,
      inwards: (milliseconds: number) => Math.floor(milliseconds / 1_000),
      schema: { type: "integer" },
    },
    "ISO 8601 time": { outwards: isoOf, inwards: secondsOf, schema: text(ISO_TIME) },
    "seconds as text": { outwards: String, inwards: Number, schema: text("^[0-9]{1,11}$") },
    "day as text": { outwards: (seconds: number) => isoOf(seconds).slice(0, 10), inwards: startOf, schema: text(ISO_DAY) },
  },
  "integer in the smallest unit": {
    "decimal number": {
      outwards: (amount: number, record) => Number(decimal(amount, record)),
      inwards: (amount: number, record) => Math.round(amount * 10 ** decimalsOf(currencyOf(record))),
      schema: { type: "number" },
    },
    "decimal text": {
      outwards: decimal,
      inwards: (amount: string, record) => readAmount(amount, currencyOf(record)) ?? amount,
      schema: text("^-?[0-9]{1,15}([.][0-9]+)?$"),
    },
    "integer text": { outwards: String, inwards: Number, schema: text("^-?[0-9]{1,15}$") },
  },
  "YYYY-MM-DD": {
    "ISO 8601 time": {
      outwards: (day: string) => `${day}T00:00:00Z`,
      inwards: (time: string) => time.slice(0, 10),
      schema: text(ISO_TIME),
    },
    "Unix seconds": { outwards: startOf, inwards: (seconds: number) => isoOf(seconds).slice(0, 10), schema: { type: "integer" } },
    "Unix milliseconds": {
      outwards: (day: string) => startOf(day) * 1_000,
      inwards: (milliseconds: number) => isoOf(Math.floor(milliseconds / 1_000)).slice(0, 10),
      schema: { type: "integer" },
    },
  },
  "YYYY-MM": {
    "day of a month": { outwards: (month: string) => `${month}-01`, inwards: (day: string) => day.slice(0, 7), schema: text(ISO_DAY) },
  },
  "three capital letters": {
    "three small letters": {
      outwards: (code: string) => code.toLowerCase(),
      inwards: (code: string) => code.toUpperCase(),
      schema: text("^[a-z]{3}$"),
    },
  },
  "two capital letters": {
    "two small letters": {
      outwards: (code: string) => code.toLowerCase(),
      inwards: (code: string) => code.toUpperCase(),
      schema: text("^[a-z]{2}$"),
    },
  },
};

/** The conversion between two forms; undefined if the sandbox has none. */
export function conversionBetween(own: string | undefined, other: unknown): Conversion | undefined {
  const forms = own === undefined ? undefined : conversions[own];
  return forms && typeof other === "string" && Object.hasOwn(forms, other) ? forms[other] : undefined;
}

/** The forms to which a form of the sandbox can be converted. */
export const formsFrom = (own: string): string[] => Object.keys(conversions[own] ?? {});

/** A value of a form, made from a time in Unix seconds, for fields that the sandbox does not have. */
export function sampleOfForm(form: string, seconds: number): unknown {
  if (form === "Unix seconds") return seconds;
  if (form === "YYYY-MM-DD") return isoOf(seconds).slice(0, 10);
  if (form === "e-mail address") return "someone@example.com";
  return conversionBetween("Unix seconds", form)?.outwards(seconds as never, {});
}

/** The schema of a form that the sandbox converts to, or makes samples of. */
export function schemaOfForm(form: string): Conversion["schema"] | undefined {
  if (form === "Unix seconds") return { type: "integer" };
  if (form === "YYYY-MM-DD") return text(ISO_DAY);
  if (form === "e-mail address") return text("^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$");
  return Object.values(conversions).find((forms) => Object.hasOwn(forms, form))?.[form]?.schema;
}
