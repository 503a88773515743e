// Shared by the commands for records: their flags, the currency of the merchant, and how they print a record.

import type { FlagDefinition, Flags } from "../arguments.ts";
import { print } from "../output/print.ts";
import { connectionFlags } from "../remote/find-sandbox.ts";
import type { RunningSandbox } from "../remote/running-sandbox.ts";
import { recordLine } from "./record-lines.ts";

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
