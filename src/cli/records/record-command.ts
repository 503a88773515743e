// The part that the commands `make`, `move` and `show` share: kinds of record, their lines, and the call.

import { resources } from "../../areas/index.ts";
import type { Resource } from "../../contracts/resource.ts";
import { isoTime } from "../../kernel/clock.ts";
import { didYouMean } from "../../kernel/did-you-mean.ts";
import { SandboxError } from "../../kernel/errors.ts";
import { writeAmount } from "../../kernel/money.ts";
import { kebab } from "../../kernel/text.ts";
import { isAmount, isTimestamp } from "../../schema/shapes.ts";
import { type FlagDefinition, type FlagDefinitions, type Flags, positionalsIn } from "../arguments.ts";
import { print } from "../output/print.ts";
import { connectionFlags } from "../remote/find-sandbox.ts";
import type { RunningSandbox } from "../remote/running-sandbox.ts";

/** The words for each kind: its name and its plural, and the first and the last part of a name of two words, where no other kind has it. */
const words = new Map<string, Resource>();
for (const resource of resources)
  for (const part of [0, -1].map((index) => resource.kind.split("_").at(index) as string))
    for (const word of part.endsWith("s") ? [part] : [part, `${part}s`]) if (!words.has(word)) words.set(word, resource);
for (const resource of resources) for (const word of [resource.view, resource.kind].map(kebab)) words.set(word, resource);

export const kindNames = resources.map(({ kind }) => kebab(kind));

export const findKind = (word: string): Resource | undefined => words.get(kebab(word.toLowerCase()));

/** The kind that a word of a command names. */
export function kindNamed(word: string | undefined, example: string): Resource {
  if (word === undefined) throw new SandboxError(`The kind of record is missing: merchant-sandbox ${example}.`, "usage");
  const found = findKind(word);
  if (found) return found;
  const hint = didYouMean(kebab(word), words.keys()) || ` There are ${kindNames.join(", ")}.`;
  throw new SandboxError(`There is no kind of record ${word}.${hint}`, "usage");
}

/** The status that a word of a command names. */
export function statusNamed({ kind, transitions }: Resource, word: string): string {
  const known = Object.keys(transitions);
  const status = word.toLowerCase().replaceAll("-", "_");
  if (known.includes(status)) return status;
  const name = kebab(kind);
  if (known.length === 0) throw new SandboxError(`A ${name} has no status.`, "usage");
  throw new SandboxError(`A ${name} has no status ${word}.${didYouMean(status, known)} It has ${known.join(", ")}.`, "usage");
}

/** The first positional argument that names a kind, or else the first of them: flags are read before the kind is checked. */
export function kindIn(argv: readonly string[], flags: FlagDefinitions): string | undefined {
  const words = positionalsIn(argv, flags).map(({ value }) => value);
  return words.find(findKind) ?? words[0];
}

type AnyFields = Readonly<Record<string, unknown>>;

/** The fields that name a record to a person, of which a line shows the first. */
const NAMING = [
  "guestName",
  "name",
  "number",
  "reference",
  "plan",
  "scheme",
  "sku",
  "employeeId",
  "integration",
  "accountName",
  "periodStart",
  "purpose",
];

/** Such as `pay_… succeeded 12.50 EUR INV-1042`. */
export function recordLine(record: AnyFields): string {
  const { id, status, amount, currency, totals } = record;
  const total = typeof amount === "number" ? amount : (totals as { netAmount?: unknown } | undefined)?.netAmount;
  const name = NAMING.map((field) => record[field]).find((value) => typeof value === "string");
  const money = typeof total === "number" ? writeAmount(total, currency as string | null) : undefined;
  return [id, status, money, name].filter((part) => part != null).join(" ");
}

/** Every field that has a value, one per line. */
export function fieldLines({ schema }: Resource, record: AnyFields): string[] {
  const fields = Object.entries(record).filter(([, value]) => value !== null);
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${valueText(schema.properties[name], value, record)}`);
}

function valueText(schema: object | undefined, value: unknown, { currency }: AnyFields): string {
  if (typeof value === "number" && schema && isAmount(schema)) return `${writeAmount(value, currency as string | null)}`;
  if (typeof value === "number" && schema && isTimestamp(schema)) return isoTime(value * 1000);
  return typeof value === "string" ? value : JSON.stringify(value);
}

export const recordFlags = {
  merchant: { value: "merchant", description: "use this merchant, such as lodge (default: the first one)" },
  json: { description: "print the record as JSON" },
  ...connectionFlags,
} satisfies Record<string, FlagDefinition>;

export const homeCurrency = async ({ control }: RunningSandbox, merchant: string) =>
  (await control.records.get({ kind: "merchant", id: merchant, merchant })).currency as string | null;

/** Events that one change can cause, with those of other records in between. */
const MOST_EVENTS = 100;

/** Prints a record, and each event about it since `since`, the newest event before the change. */
export async function printChange(
  { control }: RunningSandbox,
  record: Record<string, unknown>,
  { merchant, since, flags }: { merchant: string; since: string | undefined; flags: Flags },
): Promise<void> {
  if (flags.json !== undefined) return print(JSON.stringify(record));
  print(recordLine(record));
  const { data } = await control.events.list({ merchant, limit: MOST_EVENTS });
  const older = data.findIndex(({ id }) => id === since);
  for (const { type, id, body, deliveries } of data.slice(0, older < 0 ? undefined : older).reverse()) {
    const about = (body as { data?: { id?: unknown } }).data?.id;
    const count = Object.values(deliveries).reduce((sum, each) => sum + each, 0);
    const subject = about === record.id ? "" : ` of ${about}`;
    print(
      `  ${type}${subject} ${id}: ${count === 0 ? "no endpoint subscribed to it" : `${count} ${count === 1 ? "delivery" : "deliveries"}`}`,
    );
  }
}

export const newestEvent = async ({ control }: RunningSandbox, merchant: string) =>
  (await control.events.list({ merchant, limit: 1 })).data[0]?.id;
